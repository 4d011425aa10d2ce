"""What a command is at before it has anything to show: said at once, and again where it is interrupted there."""

from __future__ import annotations

from contextvars import ContextVar

import click

STARTING = "starting"
"""Until a verb is at work."""
UNBEGUN = "nothing was begun\n  next: the same command"
"""What is true of an interrupt before anything is written."""
KEPT = "the plan is in the store, with whatever was done\n  next: the same command, which goes on with what is open"
_phase: ContextVar[tuple[str, str]] = ContextVar("worksample_phase", default=("", ""))


def begin(phase: str, left: str = UNBEGUN, *, silent: bool = False) -> None:
    """Note what the command does from now on, and say so on stderr unless `silent`. `left`: what an interrupt leaves,
    and what to type then."""
    _phase.set((phase, left))
    if phase and not silent:
        click.echo(f"{phase} ...", err=True)


def interrupted() -> str:
    """What is said to whoever interrupts the command now."""
    phase, left = _phase.get()
    return f"interrupted while {phase}: {left}" if phase else "interrupted\n  next: the same command again"
