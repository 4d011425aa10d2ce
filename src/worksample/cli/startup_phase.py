"""The phases of a command before its output. Each is printed as it begins, and again if an interrupt ends it."""

from __future__ import annotations

from contextvars import ContextVar

import click

STARTING = "starting"
"""The phase until a command has loaded."""
UNBEGUN = "nothing was started\n  next: run the same command again"
"""The message of an interrupt before anything was written."""
KEPT = (
    "the plan and all finished work are in the store\n  next: run the same command again; it continues with open slots"
)
_phase: ContextVar[tuple[str, str]] = ContextVar("worksample_phase", default=("", ""))


def begin(phase: str, left: str = UNBEGUN, *, silent: bool = False) -> None:
    """Enter a phase, and print its name on stderr unless `silent`.

    `left` says what an interrupt in this phase leaves behind, and what to type next.
    """
    _phase.set((phase, left))
    if phase and not silent:
        click.echo(f"{phase} ...", err=True)


def interrupt_text() -> str:
    """Return the message of an interrupt in the current phase."""
    phase, left = _phase.get()
    return f"interrupted while {phase}: {left}" if phase else "interrupted\n  next: run the same command again"
