"""Who works: harnesses, presets, and what an agent is shown."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
