"""The plan, the lock, running and resuming it, rounds over what is stored."""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .config import ExperimentConfig
    from .loading import load
    from .planning import Material, Plan, plan
    from .preparing import commit_plan, prepare
    from .regrading import Regraded, Regrading, regrade
    from .run import RunOptions, RunResult, run_experiment
    from .status import Status, status_of

__all__ = [
    "ExperimentConfig",
    "Material",
    "Plan",
    "Regraded",
    "Regrading",
    "RunOptions",
    "RunResult",
    "Status",
    "commit_plan",
    "load",
    "plan",
    "prepare",
    "regrade",
    "run_experiment",
    "status_of",
]

# The engine behind `run_experiment` takes seconds to import, so it waits until one of these is wanted.
__getattr__ = lazily(__name__)
