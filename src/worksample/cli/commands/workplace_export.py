"""`worksample workplace export`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import printable


@click.command("export")
@click.argument("to", type=click.Path(path_type=Path))
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
def command(to: Path, name: str | None) -> int:
    """Write the state of a running workplace to a folder, from which another workplace can start.

    TO also holds everybody's password; only you can read it.
    """
    from worksample.workplace.running_workplaces import USUAL, send_command

    done = send_command(name or USUAL, "export", to=str(to.absolute()))
    click.echo(printable(f"{done['files']} files in {to}"))
    return 0
