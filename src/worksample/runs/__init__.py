"""One trial, from sandbox to closed submission; many of them as one Inspect eval per agent."""

from .config import RunConfig
from .follow_up_slots import More
from .limits import limits_of
from .scores import write_scores
from .slots import run_slots

__all__ = ["More", "RunConfig", "limits_of", "run_slots", "write_scores"]
