"""Capture of the files that an agent, a person or a control left in a box, as parts of a submission."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
