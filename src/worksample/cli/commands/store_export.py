"""`worksample store export`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, open_store, say_json, store_option


@click.command("export")
@click.argument("out", type=click.Path(file_okay=False))
@click.option(
    "--format", "form", type=click.Choice(["parquet", "jsonl", "atif"]), default=None, help="Default: parquet."
)
@click.option("--experiment", default=None, help="Name or id; by default all.")
@store_option
@json_option
def command(out: str, form: str | None, experiment: str | None, store: str | None, as_json: bool | None) -> None:
    """Write trials, submissions, evaluations, comparisons and slots as tables into the folder OUT.

    With --format atif the trajectories of an experiment (by default the latest), one folder per trial.
    """
    from worksample.experiments.find import find_experiment
    from worksample.formats.atif import export as export_trajectories
    from worksample.verdicts.exporting import export

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
