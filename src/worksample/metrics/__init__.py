"""Figures with their statistics: pure functions from columns to values with intervals, counts and notes.

These functions never read a store. Columns are polars Series, numpy arrays or sequences; a missing value is null, and
NaN is an error. Every figure is an `Estimate`; if it has no value, its `reason` says why. docs/reference/metrics.md
defines them all.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
