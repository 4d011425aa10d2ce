"""What a command is at before it has anything to show: said at once, and again where it is interrupted there."""

from __future__ import annotations

from contextvars import ContextVar

import click

STARTING = "starting"
"""Until a verb is at work."""
_phase: ContextVar[str] = ContextVar("worksample_phase", default="")


def begin(phase: str, *, silent: bool = False) -> None:
    """Note what the command does from now on, and say so on stderr unless `silent`."""
    _phase.set(phase)
    if phase and not silent:
        click.echo(f"{phase} ...", err=True)


def interrupted() -> str:
    """What is said to whoever interrupts the command now."""
    phase = _phase.get()
    if not phase:
        return "interrupted\n  next: the same command again"
    return f"interrupted while {phase}: nothing was begun\n  next: the same command, which begins anew"
