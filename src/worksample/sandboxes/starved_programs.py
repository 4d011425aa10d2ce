"""Detection of programs that got too little processor time because the machine was busy. Neither the work nor the
grader is to blame.
"""

from __future__ import annotations

from worksample.box import Completed
from worksample.errors import SandboxError


def starvation_reason(done: Completed) -> str:
    """Return a text which says that a program has no result because the machine was too busy."""
    return f"the machine was too busy: the program got {done.counted:.0f} s of processor time in {done.seconds:.0f} s"


def require_time(done: Completed, where: str) -> None:
    """Raise SandboxError if a program got too little processor time, because its result then says nothing about the
    work.
    """
    if done.starved:
        raise SandboxError(
            starvation_reason(done), where=where, next="stop other programs on this machine, then grade again"
        )
