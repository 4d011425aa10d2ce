"""UpBench's six tables (B, Tables 4 to 8), out of a store and into one."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
