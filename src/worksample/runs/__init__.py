"""Runs of trials: one trial, from the start of its sandbox to the stored submission, and many trials as one Inspect
eval.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
