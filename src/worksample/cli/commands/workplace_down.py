"""`worksample workplace down`."""

from __future__ import annotations

import click


@click.command("down")
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
def command(name: str | None) -> int:
    """Stop a running workplace. Everything done in it is lost unless you exported it."""
    from worksample.workplace.running_workplaces import USUAL, stop

    name = name or USUAL
    stop(name)
    click.echo(f"{name} is down")
    return 0
