"""Installation of agents that are programs: once per version and digest, read-only in the boxes."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
