"""Import of jobs from marketplaces and from firms' own tables, as task packages."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
