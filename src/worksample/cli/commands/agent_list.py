"""`worksample agent list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from worksample.cli.output import json_option, say_json, table

if TYPE_CHECKING:
    from worksample.agents.installing import Installed


@click.command("list")
@json_option
def command(as_json: bool | None) -> int:
    """List the command-line agents that can be installed, and which versions are here."""
    from worksample.agents.installing import find_program, installed_programs, program_names

    here: dict[str, list[Installed]] = {}
    for one in installed_programs():
        here.setdefault(one.name, []).append(one)
    programs = [found for name in program_names() if (found := find_program(name)) is not None]
    if as_json:
        say_json(
            [
                {
                    "name": p.name,
                    "about": p.about,
                    "package": p.source.package,
                    "tried": p.tried,
                    "installed": [i.plain() for i in here.get(p.name, [])],
                }
                for p in programs
            ]
        )
        return 0
    versions = {name: ", ".join(f"{one.version} ({one.digest[:16]})" for one in ones) for name, ones in here.items()}
    rows = [(p.name, p.about, p.source.package, p.tried, versions.get(p.name, "no")) for p in programs]
    table("", ("agent", "what it is", "package", "tried", "installed"), rows)
    return 0
