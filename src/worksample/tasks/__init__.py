"""Task packages and suites: reading, checking, storing and creating them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
