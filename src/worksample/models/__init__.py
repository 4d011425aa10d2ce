"""Language models: names, prices, usage, failures, judges, and the gateway through which programs in a box call a
model.

No other package calls a model.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
