"""Jobs from marketplaces and firms' own lists, as task packages."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
