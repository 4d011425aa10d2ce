"""Worksample gives AI agents real, paid work and measures what they deliver.

Importing this package does nothing: every public name is resolved on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import WorksampleError
    from .reports.leaderboard import leaderboard
    from .reports.measures import Comparison, MeasureConfig, Section, SectionRow, compare, figures_df, measure
    from .reports.site import write_report
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

_HOMES = {
    "Comparison": "reports.measures",
    "MeasureConfig": "reports.measures",
    "Section": "reports.measures",
    "SectionRow": "reports.measures",
    "Store": "store",
    "WorksampleError": "errors",
    "compare": "reports.measures",
    "comparisons_df": "store.frames",
    "evaluations_df": "store.frames",
    "figures_df": "reports.measures",
    "leaderboard": "reports.leaderboard",
    "measure": "reports.measures",
    "slots_df": "verdicts.slots",
    "submissions_df": "store.frames",
    "trials_df": "store.frames",
    "write_report": "reports.site",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
