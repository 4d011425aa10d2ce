"""`worksample workplace reset`."""

from __future__ import annotations

import click


@click.command("reset")
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
def command(name: str | None) -> int:
    """Reset every service of a running workplace to the state it began with."""
    from worksample.workplace.running_workplaces import USUAL, send_command

    name = name or USUAL
    click.echo(f"{name} was reset in {send_command(name, 'reset')['seconds']:.2f} s")
    return 0
