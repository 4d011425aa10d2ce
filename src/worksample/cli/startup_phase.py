"""Phases of a command before its output. The name of a phase is printed when the phase begins, and again if an
interrupt ends the phase.
"""

from __future__ import annotations

from contextvars import ContextVar

import click

STARTING = "starting"
"""Name of the first phase, which lasts until the command's module is imported."""
UNBEGUN = "nothing was started\n  next: run the same command again"
"""Message of an interrupt before the command has written anything."""
KEPT = (
    "the plan and all finished work are in the store\n  next: run the same command again; it continues with open slots"
)
_phase: ContextVar[tuple[str, str]] = ContextVar("worksample_phase", default=("", ""))


def begin(phase: str, left: str = UNBEGUN, *, silent: bool = False) -> None:
    """Begin a phase, and print its name on standard error unless `silent`.

    `left` is the message for an interrupt in this phase: what is left behind, and what to type next.
    """
    _phase.set((phase, left))
    if phase and not silent:
        click.echo(f"{phase} ...", err=True)


def interrupt_text() -> str:
    """Return the message of an interrupt in the current phase."""
    phase, left = _phase.get()
    return f"interrupted while {phase}: {left}" if phase else "interrupted\n  next: run the same command again"
