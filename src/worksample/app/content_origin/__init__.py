"""The content origin serves deliverables: each under its own host name, which is bound to one person's session."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
