"""`worksample workplace down`."""

from __future__ import annotations

import click


@click.command("down")
@click.option("--name", default="company", show_default=True, metavar="NAME", help="Which one.")
def command(name: str) -> int:
    """End a workplace that stands; what was done in it is gone, but for what was exported."""
    from worksample.workplace.kept import down

    down(name)
    click.echo(f"{name} is down")
    return 0
