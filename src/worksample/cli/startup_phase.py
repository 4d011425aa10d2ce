"""What a command does before it has output: printed as it begins, and again if the command is interrupted there."""

from __future__ import annotations

from contextvars import ContextVar

import click

STARTING = "starting"
"""The phase until a command works."""
UNBEGUN = "nothing was begun\n  next: the same command"
"""The message of an interrupt before anything is written."""
KEPT = "the plan is in the store, with whatever was done\n  next: the same command, which goes on with what is open"
_phase: ContextVar[tuple[str, str]] = ContextVar("worksample_phase", default=("", ""))


def begin(phase: str, left: str = UNBEGUN, *, silent: bool = False) -> None:
    """Note the current phase, and print it on stderr unless `silent`.

    `left`: what an interrupt leaves behind, and what to type then.
    """
    _phase.set((phase, left))
    if phase and not silent:
        click.echo(f"{phase} ...", err=True)


def interrupt_text() -> str:
    """Return the message of an interrupt in the current phase."""
    phase, left = _phase.get()
    return f"interrupted while {phase}: {left}" if phase else "interrupted\n  next: the same command again"
