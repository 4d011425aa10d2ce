"""A description of a suite: its categories, prices and hours, file types and graders, beside a market sample."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
