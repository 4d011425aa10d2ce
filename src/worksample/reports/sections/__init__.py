"""From a store's rounds and frames to every figure that they support: sections of estimates, and two agents compared.

`measure` gives the sections of `worksample metrics` and of the report, `compare` what `worksample compare` says. The
definitions are in docs/reference/metrics.md; nothing here computes one itself.
"""

# Polars and scipy are imported only if a figure is requested.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
