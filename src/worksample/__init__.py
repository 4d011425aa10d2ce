"""Worksample gives AI agents real, paid work and measures what they deliver.

Importing this package does nothing: every public name is resolved on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazily

if TYPE_CHECKING:
    from .errors import WorksampleError
    from .reports.leaderboard import leaderboard
    from .reports.sections import Comparison, MeasureConfig, Section, SectionRow, compare, figures_df, measure
    from .reports.static_site.site import write_report
    from .store import Store
    from .store.frames import comparisons_df, evaluations_df, submissions_df, trials_df
    from .verdicts.slots import slots_df

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "MeasureConfig",
    "Section",
    "SectionRow",
    "Store",
    "WorksampleError",
    "__version__",
    "compare",
    "comparisons_df",
    "evaluations_df",
    "figures_df",
    "leaderboard",
    "measure",
    "slots_df",
    "submissions_df",
    "trials_df",
    "write_report",
]

__getattr__ = lazily(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
