"""`worksample workplace reset`."""

from __future__ import annotations

import click


@click.command("reset")
@click.option("--name", default="company", show_default=True, metavar="NAME", help="Which one.")
def command(name: str) -> int:
    """Put every service of a workplace that stands back to its beginning."""
    from worksample.workplace.kept import tell

    click.echo(f"{name} is as it began, after {tell(name, 'reset')['seconds']:.2f} s")
    return 0
