"""Programs of a grading that other programs kept from the processors: that is nobody's fault in it."""

from __future__ import annotations

from worksample.box import Completed
from worksample.errors import SandboxError


def starvation_reason(done: Completed) -> str:
    """Say why a program has no result that other programs kept from the processors."""
    return f"the machine was too busy: it had {done.counted:.0f} of its seconds in {done.seconds:.0f}"


def require_time(done: Completed, where: str) -> None:
    """Raise SandboxError for a program that other programs kept from the processors: what it did says nothing of it."""
    if done.starved:
        raise SandboxError(starvation_reason(done), where=where, next="free some of this machine, then grade again")
