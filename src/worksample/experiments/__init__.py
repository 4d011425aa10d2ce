"""The plan, the lock, conducting and resuming it, rounds over what is stored."""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

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
__getattr__ = lazily(__name__)
