"""Planning: from a configuration to an experiment whose slots, lock and forecast are known before anything runs."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
