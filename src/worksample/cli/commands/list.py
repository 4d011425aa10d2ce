"""`worksample list`: the experiments of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from worksample.cli.figure_options import judged_by_option
from worksample.cli.output import bounded, json_option, open_store, say_json, store_option, table

if TYPE_CHECKING:
    from worksample.experiments.status import Status
    from worksample.records import JudgedBy
    from worksample.store.spending import Spending

AGENTS = "agents"
ALWAYS = ("experiment", "when", "planned", "finished", "graded", "ungraded", "cost")
"""Columns that every table has."""


@click.command("list")
@judged_by_option
@store_option
@json_option
def command(judged_by: JudgedBy | None, store: str | None, as_json: bool | None) -> None:
    """List the experiments in a store: planned, finished, graded and waiting trials, and what models cost so far."""
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
    shown = [_cells(row) for row in rows]
    # Counts that are 0 for every experiment are left out: the table has to fit a terminal.
    columns = [name for name in shown[0] if name in ALWAYS or any(cells[name] for cells in shown)]
    counts = [name for name in columns if isinstance(shown[0][name], int)]
    table("", columns, [[cells[name] for name in columns] for cells in shown], right=counts)


def _cells(row: Status) -> dict[str, str | int]:
    money = {one.who: said_of(one) for one in row.spending}
    return {
        "experiment": row.experiment,
        "when": row.at[:16].replace("T", " "),
        "planned": row.planned,
        "not attemptable": row.not_attemptable,
        "finished": row.finished,
        "open": row.open,
        "places": row.places,
        "re-attempts due": row.due,
        "handed in": row.handed_in,
        "graded": row.graded,
        "waits for people": row.waits_for_people,
        "waits for a judge": row.waits_for_judge,
        "to label": row.to_label,
        "ungraded": row.ungraded,
        "cost": money.pop(AGENTS),
        **{f"{who}' cost": said for who, said in money.items()},
        "": "UNSANDBOXED" if row.sandbox == "none" else "",
    }


def said_of(spent: Spending) -> str:
    """What models took: "" for colleagues and judges that nobody asked."""
    if not spent.pieces:
        return bounded(0.0) if spent.who == AGENTS else ""
    return bounded(spent.cost, spent.unpriced, spent.at_most if spent.unsettled else None)
