"""One trial, from sandbox to closed submission; many of them as one Inspect eval per agent."""

from .config import RunConfig
from .limits import limits_of
from .more import More
from .scores import write_scores
from .slots import run_slots

__all__ = ["More", "RunConfig", "limits_of", "run_slots", "write_scores"]
