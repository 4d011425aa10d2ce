"""Import of Harbor's tasks as packages, and export of packages as Harbor's tasks."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
