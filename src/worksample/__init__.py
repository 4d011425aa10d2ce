"""Worksample gives AI agents real, paid work and measures what they deliver.

Importing this package does nothing: every public name is resolved on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazily

if TYPE_CHECKING:
    from .agents.assignment import Assignment
    from .errors import WorksampleError
    from .python_api.checking import check, check_async
    from .python_api.grading import Graded, grade, grade_async
    from .python_api.opening import open_store, task
    from .python_api.pictures import Picture
    from .python_api.reporting import report, report_async
    from .python_api.results import Run
    from .python_api.running import resume, resume_async, run, run_async
    from .python_api.submitting import submit, submit_async
    from .reports.leaderboard import leaderboard
    from .reports.sections import Comparison, MeasureConfig, Section, SectionRow, compare, figures_df, measure
    from .reports.static_site.site import write_report
    from .store import Store
    from .store.frames import comparisons_df, evaluations_df, submissions_df, trials_df
    from .verdicts.slots import slots_df

__version__ = "0.1.0"

__all__ = [
    "Assignment",
    "Comparison",
    "Graded",
    "MeasureConfig",
    "Picture",
    "Run",
    "Section",
    "SectionRow",
    "Store",
    "WorksampleError",
    "__version__",
    "check",
    "check_async",
    "compare",
    "comparisons_df",
    "evaluations_df",
    "figures_df",
    "grade",
    "grade_async",
    "leaderboard",
    "measure",
    "open_store",
    "report",
    "report_async",
    "resume",
    "resume_async",
    "run",
    "run_async",
    "slots_df",
    "submissions_df",
    "submit",
    "submit_async",
    "task",
    "trials_df",
    "write_report",
]

__getattr__ = lazily(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
