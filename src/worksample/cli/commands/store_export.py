"""`worksample store export`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, open_store, say_json, store_option
from worksample.errors import UsageError


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
    if training:
        _training(out, form or "jsonl", experiment, store, private=bool(private), as_json=bool(as_json))
        return
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.formats.atif import export as export_trajectories
    from worksample.results.exporting import export

    with open_store(store) as opened:
        id = find_experiment(opened, experiment or "").id if experiment or form == "atif" else None
        if form == "atif" and id:
            written = export_trajectories(opened, id, Path(out))
        else:
            written = export(opened, Path(out), form or "parquet", id)
    if as_json:
        say_json([str(path) for path in written])
        return
    for path in written:
        click.echo(str(path))


def _training(out: str, form: str, experiment: str | None, store: str | None, *, private: bool, as_json: bool) -> None:
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.formats.training import export_training
    from worksample.records import Experiment

    with open_store(store) as opened:
        chosen = [find_experiment(opened, experiment)] if experiment else opened.find(Experiment)
        made = export_training(opened, Path(out), chosen, format=form, private=private)
    if as_json:
        say_json({"rows": made.rows, "private": made.private, "files": [str(f) for f in made.files]})
        return
    for path, count in zip(made.files, made.rows.values(), strict=True):
        click.echo(f"{path}  {count} rows")
    if made.private:
        click.echo(f"  {made.private} rows of private suites left out; --private includes them")
