"""`worksample agent install`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, printable, say_json


@click.command("install")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@VERSION]...")
@json_option
def command(names: tuple[str, ...], as_json: bool | None) -> int:
    """Install command-line agents on this machine, each in its own read-only folder.

    Without a version you get the one that the harness was written for; NAME@latest gets the registry's newest. An
    installed version is not fetched again. Packages come from npm and PyPI, as configured on this machine; install
    scripts of npm packages are not run. Node comes from PyPI.
    """
    from worksample.agents.installing.installer import install, parse_name

    for name in names:
        parse_name(name)  # so that a misspelt one is said before anything is fetched
    found = []
    for name in names:
        one = install(name)
        found.append(one)
        if not as_json:
            click.echo(printable(f"{one.name} {one.version}, digest {one.digest[:16]}, in {one.folder}"))
    if as_json:
        say_json([one.plain() for one in found])
    else:
        click.echo(f"  next: worksample agent check {found[-1].name}")
    return 0
