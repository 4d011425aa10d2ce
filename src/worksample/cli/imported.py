"""What an import of many packages says: what was written, what was there, what is faulty, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.output import printable
from worksample.formats.packages import FaultyPackages, Packages

T = TypeVar("T")
SHOWN = 20
"""Faults that are listed."""


def outcome(imported: Callable[[], Packages[T]]) -> tuple[Packages[T], int]:
    """What became of an import, and the exit code: `INCOMPLETE` where tasks were faulty and nobody left them out."""
    try:
        return imported(), 0
    except FaultyPackages as fault:
        return fault.packages, INCOMPLETE


def as_plain(found: Packages[T], written: Sequence[Any]) -> dict[str, Any]:
    """As JSON has it. written: what was written, as JSON types."""
    return {"written": list(written), "there": list(found.there), "faults": dict(found.faults)}


def say_packages(found: Packages[T], out: str, skipped: bool, can: Mapping[str, str]) -> None:
    """Say what became of the packages, and name one to go on with.

    skipped: whether faulty ones were to be left out. can: a package's name -> why it cannot be attempted, "" if it can.
    """
    for place, what in list(found.faults.items())[:SHOWN]:
        click.echo(printable(f"{'left out' if skipped else 'error'}: {place}: {what}"), err=not skipped)
    if len(found.faults) > SHOWN:
        click.echo(f"and {len(found.faults) - SHOWN} more", err=not skipped)
    click.echo(printable(f"packages in {out}: {found.said()}"))
    if found.faults and not skipped:
        click.echo("  next: correct the tasks and run the same command again, or leave them out with --skip-faulty")
        return
    name = next((name for name, why in can.items() if not why), None)
    if name is not None:
        click.echo(printable(f"  next: worksample task check {out}/{name}"))
    elif can:
        first, why = next(iter(can.items()))
        click.echo(printable(f"  none of them can be attempted here, such as {first}: {why}"))
    elif found.there:
        click.echo(printable(f"  next: worksample task check {out}/{found.there[0]}"))
