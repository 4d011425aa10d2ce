"""Commands `worksample store ...`: check, rebuild, merge, read and export a store."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import click

from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.format_commands import run_transfer
from worksample.cli.output import json_option, open_store, printable, say_json, store_option
from worksample.errors import UsageError
from worksample.formats import find_format


@click.command("check")
@click.option("--deep", is_flag=True, default=None, help="Also read every blob and compare it with its digest.")
@store_option
@json_option
def check_command(deep: bool | None, store: str | None, as_json: bool | None) -> int:
    """Check that objects, blobs and database agree. Exit code 3 if they do not."""
    from dataclasses import asdict

    from worksample.store import Store, check

    with Store.open(store, heal=False) as opened:
        faults = check(opened, deep=bool(deep))
    if as_json:
        say_json([asdict(fault) for fault in faults])
        return INCOMPLETE if faults else 0
    for fault in faults:
        click.echo(printable(fault))
    click.echo(f"{len(faults)} faults" if faults else "sound")
    return INCOMPLETE if faults else 0


@click.command("rebuild")
@store_option
@json_option
def rebuild_command(store: str | None, as_json: bool | None) -> None:
    """Rebuild the database from the objects: they are the truth, the database is an index over them."""
    from worksample.store import rebuild

    with open_store(store) as opened:
        count = rebuild(opened)
    if as_json:
        say_json({"records": count})
    else:
        click.echo(f"{count} records indexed")


@click.command("merge")
@click.argument("other")
@store_option
@json_option
def merge_command(other: str, store: str | None, as_json: bool | None) -> None:
    """Copy all records of the store OTHER (a folder or URL) into this store. OTHER is not changed."""
    from worksample.store import merge

    with open_store(store, create=True) as into, open_store(other) as source:
        count = merge(into, source)
    if as_json:
        say_json({"taken": count})
    else:
        click.echo(f"{count} objects copied")


@click.command("cat")
@click.argument("digest")
@store_option
def cat_command(digest: str, store: str | None) -> None:
    """Write the bytes of a blob to standard output: a deliverable as it was handed in.

    DIGEST is its SHA-256, as reports show it. Files made by agents may be harmful: open them only in a safe place.
    """
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise UsageError(
            f"{digest!r} is not a digest: 64 characters of 0-9 and a-f", next="copy the whole digest from the report"
        )
    with open_store(store) as opened, opened.blobs.open(digest) as source:
        shutil.copyfileobj(source, sys.stdout.buffer)


@click.command("export")
@click.argument("out", type=click.Path(file_okay=False))
@click.option(
    "--format", "form", type=click.Choice(["parquet", "jsonl", "atif"]), default=None, help="Default: parquet."
)
@click.option("--experiment", default=None, help="Name or id; by default all.")
@click.option(
    "--training",
    is_flag=True,
    default=None,
    help="Feedback by criterion, preference pairs and rewards, as jsonl or parquet.",
)
@click.option("--private", is_flag=True, default=None, help="With --training: include private suites.")
@store_option
@json_option
def export_command(
    out: str,
    form: str | None,
    experiment: str | None,
    training: bool | None,
    private: bool | None,
    store: str | None,
    as_json: bool | None,
) -> None:
    """Write trials, submissions, evaluations, comparisons and slots as tables into the folder OUT.

    With --format atif it writes the trajectories of an experiment (by default the latest), one folder per trial. With
    --training it writes feedback, preference pairs and rewards, for a model to learn from; private suites are left out.
    """
    if private and not training:
        raise UsageError(
            "--private works only with --training", next="worksample store export OUT --training --private"
        )
    if training or form == "atif":
        transfer = find_format("training" if training else "atif").exporter
        assert transfer is not None
        given = {"format": form, "experiment": experiment, "private": private, "store": store}
        run_transfer(transfer, None, out, given, as_json=bool(as_json))
        return
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.results.frame_export import export

    with open_store(store) as opened:
        id = find_experiment(opened, experiment).id if experiment else None
        written = export(opened, Path(out), form or "parquet", id)
    if as_json:
        say_json([str(path) for path in written])
        return
    for path in written:
        click.echo(str(path))
