"""Folders of files, trusted or untrusted: scan them into manifests, write them, unpack archives."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
