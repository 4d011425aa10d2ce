"""Deliverables as a browser can show them: `view` one, `prepare` all, `formats` of this machine."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
