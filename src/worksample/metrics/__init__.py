"""All quoted figures: pure functions from columns to values with intervals, counts and notes.

These functions know no store. Columns are polars Series, numpy arrays or sequences; a missing value is null, and NaN is
an error. Every figure is an `Estimate`, which has no value exactly if its `reason` says why. docs/reference/metrics.md
defines them all.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
