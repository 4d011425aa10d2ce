"""`worksample list`: the experiments of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from worksample.cli.figure_options import judged_by_option
from worksample.cli.output import dollars, json_option, open_store, say_json, store_option, table

if TYPE_CHECKING:
    from worksample.records import JudgedBy


@click.command("list")
@judged_by_option
@store_option
@json_option
def command(judged_by: JudgedBy | None, store: str | None, as_json: bool | None) -> None:
    """List the experiments of a store: planned, finished and graded trials, those that wait, cost so far."""
    from worksample.experiments.status import status_of
    from worksample.records import Experiment

    with open_store(store) as opened:
        known = sorted(opened.find(Experiment), key=lambda e: (e.at, e.id))
        rows = [status_of(opened, experiment, judged_by) for experiment in known]
    if as_json:
        say_json([row.plain() for row in rows])
        return
    if not rows:
        click.echo("no experiment yet\n  next: worksample run --suite starter --agent worker --model PROVIDER/MODEL")
        return
    columns = (
        "experiment", "when", "planned", "not attemptable", "finished", "open", "re-attempts due", "handed in",
        "graded", "waits for people", "waits for a judge", "to label", "ungraded", "cost", "",
    )  # fmt: skip
    table(
        "",
        columns,
        [
            (
                row.experiment,
                row.at[:16].replace("T", " "),
                row.planned,
                row.not_attemptable,
                row.finished,
                row.open,
                row.due,
                row.handed_in,
                row.graded,
                row.waits_for_people,
                row.waits_for_judge,
                row.to_label,
                row.ungraded,
                dollars(row.cost) + (f" + {row.unpriced} unpriced" if row.unpriced else ""),
                "UNSANDBOXED" if row.sandbox == "none" else "",
            )
            for row in rows
        ],
        right=columns[2:13],
    )
