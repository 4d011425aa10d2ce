"""Export and import of a store as UpBench's six tables (appendix B, Tables 4 to 8)."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
