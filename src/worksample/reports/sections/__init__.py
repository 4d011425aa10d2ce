"""Sections (tables) of all figures that a store's data support, and the comparison of two agents.

`measure` returns the sections of `worksample metrics` and of the report; `compare` returns those of `worksample
compare`. docs/reference/metrics.md defines the figures. This package only selects the data and calls
`worksample.metrics`.
"""

# Polars and scipy are imported only if a figure is requested.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
