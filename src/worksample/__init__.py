"""Worksample gives AI agents real, paid work and measures what they deliver.

Importing this package does nothing: every public name is resolved on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazily

if TYPE_CHECKING:
    from .agents.assignment import Assignment
    from .agents.workspace import Workspace
    from .audit.check import AuditConfig
    from .audit.finding import Report
    from .errors import Cause, WorksampleError
    from .experiments.hand_in import HandedIn
    from .experiments.regrading import Regraded
    from .experiments.status import Status
    from .metrics.calibration.rules import CalibrationRules
    from .metrics.estimate import Estimate
    from .metrics.money.deployable import Checking
    from .metrics.scores.rubric import RubricRules
    from .metrics.uncertainty.bootstrap import Resampling
    from .models.price import Price
    from .python_api.checking import check, check_async
    from .python_api.grading import Graded, grade, grade_async
    from .python_api.opening import open_store, task
    from .python_api.pictures import Picture
    from .python_api.reporting import report, report_async
    from .python_api.results import Run
    from .python_api.running import resume, resume_async, run, run_async
    from .python_api.submitting import submit, submit_async
    from .records.base import Record
    from .records.experiment import Experiment, Slot
    from .records.manifest import Manifest
    from .records.task import Protocol
    from .records.verdict import JudgedBy
    from .reports.leaderboard import Leaderboard, leaderboard
    from .reports.sections import Change, Comparison, MeasureConfig, Section, SectionRow, compare, figures_df, measure
    from .reports.sections.compare_parts import Part
    from .reports.static_site.site import ReportConfig, write_report
    from .store import Store
    from .store.disk import Disk
    from .store.frames import comparisons_df, evaluations_df, submissions_df, trials_df
    from .store.lease import Lease
    from .store.location import Location
    from .tasks.spec import Package
    from .verdicts.frame import WorkRules
    from .verdicts.slots import slots_df
    from .verdicts.subset import Subset

__version__ = "0.1.0"

__all__ = [
    "Assignment",
    "AuditConfig",
    "CalibrationRules",
    "Cause",
    "Change",
    "Checking",
    "Comparison",
    "Disk",
    "Estimate",
    "Experiment",
    "Graded",
    "HandedIn",
    "JudgedBy",
    "Leaderboard",
    "Lease",
    "Location",
    "Manifest",
    "MeasureConfig",
    "Package",
    "Part",
    "Picture",
    "Price",
    "Protocol",
    "Record",
    "Regraded",
    "Report",
    "ReportConfig",
    "Resampling",
    "RubricRules",
    "Run",
    "Section",
    "SectionRow",
    "Slot",
    "Status",
    "Store",
    "Subset",
    "WorkRules",
    "WorksampleError",
    "Workspace",
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
