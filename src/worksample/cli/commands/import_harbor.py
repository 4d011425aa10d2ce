"""`worksample import harbor`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from worksample.cli.output import json_option, say_json, table


@click.command("harbor")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.argument("out", type=click.Path(file_okay=False))
@click.option(
    "--without-internet",
    is_flag=True,
    default=None,
    help="Run tasks that want the whole internet without any, and mark them; else they are not attemptable.",
)
@click.option("--overwrite", is_flag=True, default=None, help="Replace packages that exist already.")
@json_option
def command(folder: str, out: str, without_internet: bool | None, overwrite: bool | None, as_json: bool | None) -> None:
    """Turn Harbor tasks at or below FOLDER into packages below the folder OUT.

    The verifier becomes the grader, and the solution the audit's reference. If a task needs something that is not
    available here, its instance is not attemptable, with a reason (docs/harbor.md).
    """
    from worksample.formats.harbor import ImportHarbor, import_harbor

    config = ImportHarbor(without_internet=bool(without_internet), overwrite=bool(overwrite))
    made = list(import_harbor(Path(folder), Path(out), config))
    if as_json:
        say_json([asdict(one) for one in made])
        return
    needs = Counter(word for one in made for word in one.needs)
    changed = Counter(what for one in made for what in one.substituted)
    rows = [("tasks", len(made)), ("attemptable", sum(not one.needs for one in made))]
    rows += [("with a solution", sum(one.solution for one in made))]
    rows += [(f"not attemptable: {word}", count) for word, count in needs.most_common()]
    rows += [(f"substituted: {what}", count) for what, count in changed.most_common()]
    table("", ("tasks", "count"), rows, right=("count",))
    click.echo(f"{len(made)} packages in {out}\n  next: worksample task check {out}/{made[0].name}")
