"""`worksample import upbench`: a table of jobs, or the six tables with what was handed in and said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.cli.output import json_option, open_store, printable, say_json, store_option, table
from worksample.errors import UsageError

from .import_jobs import job_options, run_import, source_named

if TYPE_CHECKING:
    from worksample.formats.upbench import ImportedTables

_OF_JOBS = ("mapping", "filters", "missing", "overwrite")
"""Options of a table of jobs alone."""
MOST = 20
"""Faults, and cohorts, that are listed."""


@click.command("upbench")
@click.argument("table_", metavar="TABLE", type=click.Path(exists=True))
@click.argument("out", type=click.Path(file_okay=False))
@job_options
@click.option("--dry-run", is_flag=True, default=None, help="Say what the six tables would change, and write nothing.")
@store_option
@json_option
def command(
    table_: str, out: str, store: str | None, dry_run: bool | None, as_json: bool | None, **given: Any
) -> None:  # fmt: skip
    """Turn a table like UpBench's `projects` into a suite of task packages below the folder OUT.

    As in the paper (3.2), jobs that are not completed, have no verified payment, are paid by the hour or have several
    milestones are left out and counted. If TABLE is a folder with the six tables of UpBench's appendix B, these jobs
    are imported too, but marked and left out of the suite, and the store takes in all qualifications, submissions and
    evaluations (docs/upbench.md).
    """
    from worksample.formats.upbench import holds_tables

    if holds_tables(Path(table_)):
        _tables(table_, out, store, given, dry_run=bool(dry_run), as_json=bool(as_json))
        return
    if store or dry_run:
        option = "--store" if store else "--dry-run"
        raise UsageError(
            f"{option} works only with a folder of UpBench's six tables", where=table_, next="give that folder as TABLE"
        )
    run_import("upbench", table_, out, bool(as_json), given)


def _tables(
    folder: str, out: str, store: str | None, given: dict[str, Any], *, dry_run: bool, as_json: bool
) -> None:  # fmt: skip
    from worksample.formats.upbench import ImportUpbench, import_upbench

    for name in _OF_JOBS:
        if given[name]:
            option = {"mapping": "map", "filters": "filter"}.get(name, name)
            raise UsageError(
                f"--{option} works only with a table of jobs, not with a folder of six tables", where=folder,
                next=f"leave out --{option}",
            )  # fmt: skip
    config = ImportUpbench(
        encoding=given["encoding"] or "", decimal=given["decimal"] or "",
        files=Path(given["files"]) if given["files"] else None,
        source=source_named(given["source"]), visibility="public" if given["public"] else "private",
        skip_faulty=bool(given["skip_faulty"]), dry_run=dry_run,
    )  # fmt: skip
    with open_store(store, create=not dry_run) as opened:
        made = import_upbench(opened, Path(folder), Path(out), config)
    if as_json:
        say_json(made.plain())
    else:
        _show(made, out, dry_run=dry_run)


def _show(made: ImportedTables, out: str, *, dry_run: bool) -> None:
    names = ("new", "changed", "same", "gone")
    rows = [(name, *(counts[n] for n in names)) for name, counts in made.refresh.rows.items()]
    table("", ("table", *names), rows, right=names)
    for name, columns in made.refresh.columns.items():
        click.echo(printable(f"  {name} changed in {', '.join(f'{c} ({n})' for c, n in columns.items())}"))
    cohorts = [
        (c.month, _both(c.jobs), _both(c.judged), _both(c.passed))
        for c in made.refresh.cohorts
        if c.jobs[0] != c.jobs[1] or c.judged[0] != c.judged[1] or c.passed[0] != c.passed[1]
    ]  # fmt: skip
    if cohorts:
        heads = ("cohort", "jobs", "first attempts judged", "passed")
        table("", heads, cohorts[-MOST:], right=heads[1:])
    if len(cohorts) > MOST:
        click.echo(f"  and {len(cohorts) - MOST} cohorts before them")
    for where, what in list(made.faults.items())[:MOST]:
        click.echo(printable(f"  left out: {where}: {what}"))
    for name, left in made.unread.items():
        click.echo(printable(f"  not read of {name}: {', '.join(left)}"))
    if made.missing:
        click.echo(f"  files that are named but missing: {made.missing}")
    if made.contradicted:
        click.echo(f"  judgements that contradict their criteria: {made.contradicted}; verdicts follow the criteria")
    if dry_run:
        click.echo("nothing was written")
        return
    click.echo(f"suite: {out}\n  next: worksample metrics {made.experiment}" if made.experiment else f"suite: {out}")


def _both(counts: tuple[int, int]) -> str:
    return str(counts[1]) if counts[0] == counts[1] else f"{counts[0]} -> {counts[1]}"
