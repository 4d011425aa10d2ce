"""Harbor's tasks as packages, and packages as Harbor's tasks: what they need, and why one cannot be attempted here."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
