"""`worksample workplace down`."""

from __future__ import annotations

import click


@click.command("down")
@click.option("--name", default=None, metavar="NAME", help="Which one; default: company.")
def command(name: str | None) -> int:
    """End a workplace that stands; what was done in it is gone, but for what was exported."""
    from worksample.workplace.kept import USUAL, down

    name = name or USUAL
    down(name)
    click.echo(f"{name} is down")
    return 0
