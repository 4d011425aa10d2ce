"""Groups of criteria that ask for the like, and which of them agents fail (UpBench 5.5)."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
