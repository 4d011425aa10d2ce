"""Language models: names, prices, usage, failures, the gateway for programs, and judges. Nothing else calls a model."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
