"""Language models: names, prices, usage, failures, judges, and the gateway for programs in a box.

No other package calls a model.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
