"""`worksample workplace reset`."""

from __future__ import annotations

import click


@click.command("reset")
@click.option("--name", default=None, metavar="NAME", help="Which one; default: company.")
def command(name: str | None) -> int:
    """Put every service of a workplace that stands back to its beginning."""
    from worksample.workplace.kept import USUAL, tell

    name = name or USUAL
    click.echo(f"{name} is as it began, after {tell(name, 'reset')['seconds']:.2f} s")
    return 0
