"""`worksample import tac`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from worksample.cli.output import json_option, say_json, table
from worksample.errors import UsageError


@click.command("tac")
@click.argument("out", required=False, default=None, type=click.Path(file_okay=False))
@click.option("--task", "tasks", multiple=True, default=None, metavar="NAME", help="Only this task. Repeatable.")
@click.option("--list", "listing", is_flag=True, default=None, help="List the tasks of the installed copy and stop.")
@click.option(
    "--as-published", is_flag=True, default=None, help="Leave ground truth where the published images leave it."
)
@click.option("--overwrite", is_flag=True, default=None, help="Replace packages that exist already.")
@json_option
def command(
    out: str | None,
    tasks: tuple[str, ...],
    listing: bool | None,
    as_published: bool | None,
    overwrite: bool | None,
    as_json: bool | None,
) -> None:
    """Turn an installed copy of TheAgentCompany's tasks into packages below the folder OUT.

    Needs the extra: pip install 'worksample[tac]'. The evaluators are called unmodified in the grading box
    (docs/tac.md).
    """
    if listing:
        _list(as_json=bool(as_json))
        return
    if out is None:
        raise UsageError("no folder to write to", next="worksample import tac OUT")
    from worksample.formats.tac import import_tac

    made = import_tac(Path(out), tasks=tasks, as_published=bool(as_published), overwrite=bool(overwrite))
    if as_json:
        say_json([{**asdict(item), "package": str(item.package)} for item in made])
        return
    rows = [
        (i.name, "yes" if i.runnable else "no", ", ".join(i.needs), "a judge model" if i.judge else "") for i in made
    ]
    table("", ("task", "runs here", "needs", ""), rows)
    click.echo(f"{len(made)} packages in {out}\n  next: worksample task check {out}/NAME")


def _list(*, as_json: bool) -> None:
    from worksample.formats.tac.importing import available

    names = [task.name for task in available()]
    if as_json:
        say_json(names)
    else:
        click.echo("\n".join(names))
