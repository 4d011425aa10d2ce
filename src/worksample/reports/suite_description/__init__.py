"""Description of a suite: its categories, prices, hours, file types and graders, compared with a sample of the
market.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
