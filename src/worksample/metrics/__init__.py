"""Figures computed from columns of results: pure functions that return values with intervals, counts and notes.

These functions never read a store. Columns are polars Series, numpy arrays or sequences. A missing value is null; NaN
is an error. Every figure is an `Estimate`; if an estimate has no value, its `reason` says why.
docs/reference/metrics.md defines all figures.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
