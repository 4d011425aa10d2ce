"""The content origin: deliverables, each under a host name of its own, bound to one person's session."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
