"""The plan, the lock, running and resuming it, rounds over what is stored."""

from typing import TYPE_CHECKING, Any

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
_HOMES = {
    "ExperimentConfig": "config",
    "Material": "planning",
    "Plan": "planning",
    "Regraded": "regrading",
    "Regrading": "regrading",
    "RunOptions": "run",
    "RunResult": "run",
    "Status": "status",
    "commit_plan": "preparing",
    "load": "loading",
    "plan": "planning",
    "prepare": "preparing",
    "regrade": "regrading",
    "run_experiment": "run",
    "status_of": "status",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
