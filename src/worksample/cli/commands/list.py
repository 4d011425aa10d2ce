"""`worksample list`: the experiments of a store."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from worksample.cli.figure_options import judged_by_option
from worksample.cli.output import cost_range, json_option, open_store, say_json, store_option, table

if TYPE_CHECKING:
    from worksample.experiments.status import Status
    from worksample.experiments.work_without_experiment import HandedInWork
    from worksample.records import JudgedBy
    from worksample.store.model_costs import Spending

AGENTS = "agents"
UNKNOWN = "unknown"
ALWAYS = ("experiment", "when", "planned", "finished", "graded", "ungraded", "cost")
"""Names of the columns that the printed table always has. Other columns appear only if they have a value."""


@click.command("list")
@click.option(
    "--handed-in", "handed", is_flag=True, default=None, help="List the work that was handed in without an experiment."
)
@judged_by_option
@store_option
@json_option
def command(handed: bool | None, judged_by: JudgedBy | None, store: str | None, as_json: bool | None) -> None:
    """List the experiments in a store: planned, finished, graded and waiting trials, and what models cost so far."""
    from worksample.experiments.status import statuses_of
    from worksample.experiments.work_without_experiment import handed_in_alone
    from worksample.records import Experiment

    with open_store(store) as opened:
        alone = handed_in_alone(opened)
        if handed:
            _show_handed_in(alone, as_json=bool(as_json))
            return
        known = sorted(opened.find(Experiment), key=lambda e: (e.at, e.id))
        rows = statuses_of(opened, known, judged_by)
    if as_json:
        say_json([row.plain() for row in rows])
        return
    _show(rows, len(alone), store)


def _show(rows: list[Status], alone: int, store: str | None) -> None:
    if not rows:
        click.echo("no experiment yet\n  next: worksample run --suite starter --agent worker --model PROVIDER/MODEL")
    else:
        _show_experiments(rows)
    if alone:
        pieces = "1 piece of work was" if alone == 1 else f"{alone} pieces of work were"
        place = f" --store {shlex.quote(store)}" if store else ""
        click.echo(f"{pieces} handed in without an experiment\n  next: worksample list --handed-in{place}")


def _show_handed_in(alone: tuple[HandedInWork, ...], *, as_json: bool) -> None:
    if as_json:
        say_json([piece.plain() for piece in alone])
    elif not alone:
        click.echo("no work was handed in without an experiment\n  next: worksample submit --help")
    else:
        rows = [
            (
                piece.entrant,
                {"external": "agent elsewhere"}.get(piece.origin, piece.origin),
                piece.instance,
                piece.at[:16].replace("T", " "),
                piece.standing if piece.score is None else f"{piece.score:.3f}",
                piece.submission,
            )
            for piece in alone
        ]
        table("", ("entrant", "origin", "work", "when", "score", "submission"), rows)


def _show_experiments(rows: list[Status]) -> None:
    shown = [_cells(row) for row in rows]
    # Leave out counts that are 0 in every experiment, so that the table fits a terminal.
    columns = [name for name in shown[0] if name in ALWAYS or any(cells[name] for cells in shown)]
    counts = [name for name in columns if isinstance(shown[0][name], int)]
    table("", columns, [[cells[name] for name in columns] for cells in shown], right=counts)


def _cells(row: Status) -> dict[str, str | int]:
    from worksample.records import IMPORTED

    money = {one.who: cost_text(one) for one in row.spending}
    if row.sandbox == IMPORTED and not _has_calls(row):
        money[AGENTS] = UNKNOWN
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


def _has_calls(row: Status) -> bool:
    """Return whether the store records a model call of the agents. Imported work may have no recorded calls; its cost
    is then unknown.
    """
    return any(one.who == AGENTS and one.pieces for one in row.spending)


def cost_text(spent: Spending) -> str:
    """Return the cost of models as text; "" if no model was called."""
    if not spent.pieces:
        return cost_range(0.0) if spent.who == AGENTS else ""
    return cost_range(
        spent.cost, spent.unpriced, spent.at_most if spent.unsettled else None, full_price=spent.full_price > 0
    )
