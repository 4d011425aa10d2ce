"""Deliverables as a browser can show them: `view` converts one file, `prepare` all, `formats` lists what can be
shown.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
