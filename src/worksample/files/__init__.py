"""Folders as values, for trusted and for hostile folders alike: scan, lay, unzip."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
