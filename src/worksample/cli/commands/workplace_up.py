"""`worksample workplace up`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, printable, say_json


@click.command("up")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", default=None, metavar="NAME", help="A name for this workplace; default: company.")
@click.option("--services", metavar="A,B", default=None, help="The services to start; default: all.")
@json_option
def command(folder: Path, name: str | None, services: str | None, as_json: bool | None) -> int:
    """Start a company's services and keep them running, for people and their browsers.

    FOLDER holds company.toml, or was written by worksample workplace export. Only this machine can reach the services.
    """
    from worksample.errors import UsageError
    from worksample.tasks.workplace import PORTS
    from worksample.workplace.running_workplaces import USUAL, start

    name = name or USUAL
    names = tuple(dict.fromkeys((services or ",".join(PORTS)).split(",")))
    if strange := [one for one in names if one not in PORTS]:
        raise UsageError(
            f"there is no service {strange[0]!r}; there are: {', '.join(PORTS)}", where="--services",
            next=f"--services {','.join(PORTS)}",
        )  # fmt: skip
    said = start(folder, names, name)
    if as_json:
        say_json(said)
        return 0
    for service, address in said["addresses"].items():
        click.echo(f"{service:9} {address}")
    click.echo(printable(f"next: worksample workplace open --name {name}"))
    return 0
