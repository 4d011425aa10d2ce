"""Planning of experiments: a configuration becomes an experiment with slots, a lock and a forecast before any trial
runs.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
