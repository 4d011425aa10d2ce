"""`worksample task new`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, say_json


@click.command("new")
@click.argument("folder", type=click.Path())
@click.option("--title", default=None, help="What the task is called; default: derived from the folder's name.")
@click.option(
    "--protocol", type=click.Choice(["program", "rubric", "holistic"]), default=None,
    help="How work is judged: by a program (default), by people with a rubric, or by people as a whole.",
)  # fmt: skip
@json_option
def command(folder: str, title: str | None, protocol: str | None, as_json: bool | None) -> None:
    """Create a task package to start from: small, complete, with two instances, cases and scripts.

    The name of FOLDER becomes the task's id. docs/own-task.md walks you through it.
    """
    from worksample.records import Protocol
    from worksample.tasks import scaffold

    path = Path(folder)
    made = scaffold(path.parent, path.name, title=title or "", protocol=Protocol(protocol or "program"))
    if as_json:
        say_json({"task": str(made)})
        return
    click.echo(f"made {made}")
    click.echo(f"  next: worksample task check {made}")
