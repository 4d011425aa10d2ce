"""Starved programs: a grading's programs that got too little processor time through no fault of the work or the
grader.
"""

from __future__ import annotations

from worksample.box import Completed
from worksample.errors import SandboxError


def starvation_reason(done: Completed) -> str:
    """Say that a program has no result because other programs used the processors."""
    return f"the machine was too busy: the program got {done.counted:.0f} s of processor time in {done.seconds:.0f} s"


def require_time(done: Completed, where: str) -> None:
    """Raise SandboxError if a program got too little processor time: its result then says nothing about the work."""
    if done.starved:
        raise SandboxError(
            starvation_reason(done), where=where, next="stop other programs on this machine, then grade again"
        )
