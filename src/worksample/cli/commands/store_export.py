"""`worksample store export`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.format_verbs import run_transfer
from worksample.cli.output import json_option, open_store, say_json, store_option
from worksample.errors import UsageError
from worksample.formats import find_format


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
def command(
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
    --training it writes what was said about the work, for a model to learn from; private suites are left out.
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
    from worksample.experiments.find import find_experiment
    from worksample.results.frame_export import export

    with open_store(store) as opened:
        id = find_experiment(opened, experiment).id if experiment else None
        written = export(opened, Path(out), form or "parquet", id)
    if as_json:
        say_json([str(path) for path in written])
        return
    for path in written:
        click.echo(str(path))
