"""Commands `worksample agent ...`: install, list, try and remove command-line agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from worksample.cli.exit_codes import FAILED
from worksample.cli.output import duration, json_option, printable, say_json, table
from worksample.cli.service_options import service_options

if TYPE_CHECKING:
    from worksample.agents.installing import Installed
    from worksample.experiments.agent_check import AgentCheckResult


@click.command("install")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@VERSION][=PATH]...")
@json_option
def install_command(names: tuple[str, ...], as_json: bool | None) -> int:
    """Install command-line agents on this machine, each in its own read-only folder.

    Without a version you get the one that the harness was written for; NAME@latest gets the registry's newest.
    NAME=PATH installs an archive, wheel or folder of this machine. An installed version is not fetched again.
    Packages come from npm and PyPI, as configured on this machine; install scripts of npm packages are not run. Node
    comes from PyPI.
    """
    from worksample.agents.installing.installer import install, parse_name, parse_source

    for name in names:
        parse_name(parse_source(name)[0])  # so that a misspelt one is said before anything is fetched
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


@click.command("list")
@json_option
def list_command(as_json: bool | None) -> int:
    """List the command-line agents that can be installed, and which versions are here."""
    from worksample.agents.installing import find_program, list_installed, program_names

    here: dict[str, list[Installed]] = {}
    for one in list_installed():
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
    table("", ("agent", "description", "package", "tried", "installed"), rows)
    return 0


@click.command("check")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@VERSION]...")
@click.option(
    "--model", default=None, metavar="PROVIDER/MODEL", help="The model that answers; default: a scripted model."
)
@service_options
@json_option
def check_command(names: tuple[str, ...], model: str | None, as_json: bool | None, **values: Any) -> int:
    """Let installed agents write a file by a tool and answer with one line, inside a sandbox.

    An agent passes if the file is among its deliverables, and if its output or its log contains the requested line.
    Without --model this costs nothing: a scripted model on this machine answers. Also says whether the program's files
    are unchanged since it was installed. Exit code 1 if an agent does not work.
    """
    from worksample.cli.run_options import flags_of
    from worksample.experiments.agent_check import check_agents
    from worksample.experiments.config_file import load

    flags = flags_of({k: v for k, v in values.items() if v is not None})
    config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}], **flags})
    found = check_agents(names, model, config)
    if as_json:
        say_json([one.plain() for one in found])
    else:
        _print_checks(found)
    return 0 if all(one.sound for one in found) else FAILED


def _print_checks(found: tuple[AgentCheckResult, ...]) -> None:
    sound = {True: "ok", False: "FAULT"}
    rows = [
        (one.agent, one.version, sound[one.sound], one.fault or one.said, one.calls, duration(one.seconds))
        for one in found
    ]  # fmt: skip
    table("", ("agent", "version", "", "its answer", "calls", "time"), rows)


@click.command("remove")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@VERSION]...")
@json_option
def remove_command(names: tuple[str, ...], as_json: bool | None) -> int:
    """Remove installed versions of command-line agents; without a version, all of an agent's.

    Do not remove an agent while a run uses it. Records of past trials are not affected.
    """
    from worksample.agents.installing.installer import parse_name, remove

    for name in names:
        parse_name(name)
    gone = [one for name in names for one in remove(name)]
    if as_json:
        say_json([one.plain() for one in gone])
        return 0
    for one in gone:
        click.echo(printable(f"removed {one.name} {one.version}, digest {one.digest[:16]}"))
    return 0
