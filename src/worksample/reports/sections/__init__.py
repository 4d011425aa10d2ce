"""From a store's rounds and frames to every figure that they support: sections of estimates, and two agents compared.

`measure` gives the sections of `worksample metrics` and of the report, `compare` what `worksample compare` says. The
definitions are in docs/metrics.md; nothing here computes one itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .comparing import Change, Comparison, compare
    from .config import MeasureConfig
    from .figures_frame import figures_df
    from .measuring import measure
    from .section import Section, SectionRow

__all__ = ["Change", "Comparison", "MeasureConfig", "Section", "SectionRow", "compare", "figures_df", "measure"]

# Polars and scipy wait until a figure is wanted.
__getattr__ = lazily(__name__)
