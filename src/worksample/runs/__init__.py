"""One trial, from sandbox to closed submission; many of them as one Inspect eval per agent."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
