"""The plan, the lock, conducting and resuming it, rounds over what is stored."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conducting import Conducted, How, conduct
    from .config import ExperimentConfig
    from .loading import load
    from .planning import Material, Plan, plan
    from .preparing import commit_plan, prepare
    from .regrading import Regraded, Regrading, regrade
    from .status import Status, status_of

__all__ = [
    "Conducted",
    "ExperimentConfig",
    "How",
    "Material",
    "Plan",
    "Regraded",
    "Regrading",
    "Status",
    "commit_plan",
    "conduct",
    "load",
    "plan",
    "prepare",
    "regrade",
    "status_of",
]

# The engine behind `conduct` takes seconds to import, so it waits until one of these is wanted.
_HOMES = {
    "Conducted": "conducting",
    "ExperimentConfig": "config",
    "How": "conducting",
    "Material": "planning",
    "Plan": "planning",
    "Regraded": "regrading",
    "Regrading": "regrading",
    "Status": "status",
    "commit_plan": "preparing",
    "conduct": "conducting",
    "load": "loading",
    "plan": "planning",
    "prepare": "preparing",
    "regrade": "regrading",
    "status_of": "status",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
