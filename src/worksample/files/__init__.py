"""Folders as values, trusted and untrusted ones alike: scan them, write them, unpack archives."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
