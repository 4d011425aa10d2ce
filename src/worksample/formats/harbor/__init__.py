"""Harbor's tasks as packages: what they need, where they can be attempted, and why not where they cannot."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
