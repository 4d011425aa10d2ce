"""Every figure that is quoted: pure functions from columns to values with intervals, counts and notes.

Nothing here knows a store. Columns are polars Series, numpy arrays or sequences; what is missing is null, and NaN is an
error. Every figure is an `Estimate`, which has no value exactly where it says why. docs/metrics.md defines them all.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
