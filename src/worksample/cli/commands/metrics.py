"""`worksample metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from worksample.cli.ambiguous_experiments import print_chosen_experiments
from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.figure_options import (
    interval_options,
    judged_by_option,
    money_options,
    money_settings,
    resampling,
    where_option,
)
from worksample.cli.output import console, json_option, open_store, printable, say_json, store_option, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from worksample.metrics import Estimate
    from worksample.reports.sections import MeasureConfig, Section

ACROSS = 7
"""Number of columns above which a table is transposed, unless the table has even more rows."""
LARGE = 1000
"""Smallest number that is printed without decimals, in columns of plain numbers."""
OPEN = "{least, most}: if everything ungraded failed, or passed; the figure itself takes it to be missing at random"
SIGNS = {"share": " %", "points": " pp", "spread": " pp", "hours": " h"}


@click.command("metrics")
@click.argument("experiments", nargs=-1)
@click.option(
    "--by",
    type=click.Choice(["category", "tier", "platform", "domain", "cohort", "agent"]),
    default=None,
    help="Break every agent's figures down by this; agent means no breakdown.",
)
@click.option("--only", multiple=True, default=None, metavar="SECTION", help="Show this section only. Repeatable.")
@click.option("--illustrative", is_flag=True, default=None, help="Count prices and hours that are only illustrative.")
@click.option("--with-struck", is_flag=True, default=None, help="Also count records that an integrity review struck.")
@click.option(
    "--skips",
    type=click.Choice(["cause", "paper"]),
    default=None,
    help="Skipped criteria by their cause (default), or as misses: UpBench's own formula.",
)
@click.option("--pitfalls-gate", is_flag=True, default=None, help="Count a job with a pitfall as not completed.")
@click.option(
    "--budget",
    "budgets",
    type=float,
    multiple=True,
    default=None,
    help="US dollars per trial, for the section budget-cost.",
)
@judged_by_option
@click.option(
    "--elo-weight",
    type=click.Choice(["pair", "comparison"]),
    default=None,
    help="What has weight 1 in Elo: a pair of agents (default; RLI B.2), or each comparison.",
)
@money_options
@where_option
@interval_options
@store_option
@json_option
def command(
    experiments: tuple[str, ...], only: tuple[str, ...], store: str | None, as_json: bool | None, **given: Any
) -> int:
    """Print every figure that the store's data support, with counts and intervals.

    EXPERIMENTS are names or ids, by default the latest; several are combined if their locks agree. Only rounds in force
    and records that are not struck count. Exit code 3 if data contradict each other, such as two votes by one evaluator
    on one item: that section shows the error, and the other sections are still printed.
    """
    from worksample.reports.sections import measure

    with open_store(store) as opened:
        print_chosen_experiments(opened, experiments)
        sections = measure(opened, experiments, _config(given))
    shown = _choose_sections(sections, only)
    code = INCOMPLETE if any(section.fault for section in shown) else 0
    if as_json:
        say_json([section.plain() for section in shown])
        return code
    for section in shown:
        _show(section)
    if not shown:
        click.echo("nothing is graded yet\n  next: worksample list   (shows open and ungraded work)")
    return code


def _config(given: dict[str, Any]) -> MeasureConfig:
    """Return the flags of the command as a MeasureConfig."""
    from worksample.reports.sections import MeasureConfig

    how = resampling(given)
    money = {name: given.pop(name) for name in ("hourly", "checking", "prices")}
    kept = {name: value for name, value in given.items() if value not in (None, ())} | money_settings(money)
    if kept.pop("with_struck", None):
        kept["struck"] = False
    return MeasureConfig(how=how, **kept)


def _choose_sections(sections: Sequence[Section], only: Sequence[str]) -> list[Section]:
    from worksample.errors import UsageError

    known = [section.id for section in sections]
    unknown = [name for name in only if name not in known]
    if unknown:
        raise UsageError(f"no section {unknown[0]!r} in these figures", next=f"one of {', '.join(known)}")
    return [section for section in sections if not only or section.id in only]


def _show(section: Section) -> None:
    from worksample.reports.terminal_leaderboard import column_blocks

    click.secho(f"{section.title}  [{section.id}; {section.source}]" if section.source else section.title, bold=True)
    if section.fault:
        click.echo(printable(f"  cannot be measured: {section.fault}"))
    columns, rows = section.columns, [(row.label, *(_text(cell) for cell in row.cells)) for row in section.rows]
    if len(columns) > ACROSS >= len(rows):
        columns, rows = _transpose(columns, rows)
    rows = [tuple(printable(cell) for cell in row) for row in rows]
    heads = ("", *columns)
    for places in column_blocks(heads, rows, console().width):
        part = tuple(heads[p] for p in places)
        table("", part, [tuple(r[p] for p in places) for r in rows], right=part[1:])
    for note in (*section.notes, *_notes(section)):
        click.echo(printable(f"  {note}"))
    click.echo()


def _text(cell: Estimate | str) -> str:
    return cell if isinstance(cell, str) else figure_text(cell)


def _transpose(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Swap the rows and columns of a table that has many columns and few rows."""
    return tuple(r[0] for r in rows), [(name, *(r[place] for r in rows)) for place, name in enumerate(columns, start=1)]


def _notes(section: Section) -> list[str]:
    """Return the notes on single figures of a section. Each note appears once, with the rows and columns to which it
    applies.
    """
    from worksample.metrics import Estimate

    said: dict[str, dict[str, list[str]]] = {}
    for row in section.rows:
        for column, cell in zip(section.columns, row.cells, strict=False):
            if isinstance(cell, Estimate):
                for note in (*cell.notes, *([cell.reason] if cell.reason else [])):
                    said.setdefault(note, {}).setdefault(row.label, []).append(column)
    found = [f"{_concerned_cells(section, places)}{note}" for note, places in said.items()]
    most = 12
    if any(isinstance(cell, Estimate) and cell.bounds for row in section.rows for cell in row.cells):
        found.insert(0, OPEN)
    return found if len(found) <= most else [*found[:most], f"... and {len(found) - most} more (--json has all)"]


def _concerned_cells(section: Section, places: dict[str, list[str]]) -> str:
    """Return the rows and columns to which a note applies, such as `good (steps, tokens), hasty (steps): `.

    If the section has only one column, its name is left out. If a note applies to a whole row, the row's columns are
    left out.
    """
    most = 4
    names = []
    for label, columns in places.items():
        shown = _join_some(columns, most)
        names.append(label if len(columns) == len(section.columns) else f"{label} ({shown})")
    return f"{_join_some(names, most)}: "


def _join_some(names: Sequence[str], most: int) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def figure_text(e: Estimate) -> str:
    """Return a figure as text: its value, its interval, its counts, and its bounds if some work is not graded. An
    example is `41.7 % [20.1, 66.2] 20/24 {34.7, 51.4}`.
    """
    from dataclasses import replace

    counts = f"{e.counts.valid}/{e.counts.planned}" if e.counts.planned else ""
    if e.value is None:
        return f"– {counts}".rstrip()

    def end(value: float | None) -> str:
        return "..." if value is None else replace(e, value=value, low=None, high=None, exact=None).format_value()

    interval = "" if e.low is None and e.high is None else f" [{end(e.low)}, {end(e.high)}]"
    before = "$" if e.unit == "usd" else ""
    value = f"{e.value:,.0f}" if e.unit == "number" and abs(e.value) >= LARGE else e.format_value()
    open_ = "" if e.bounds is None else f" {{{end(e.bounds[0])}, {end(e.bounds[1])}}}"
    return f"{before}{value}{SIGNS.get(e.unit, '')}{interval} {counts}{open_}".rstrip()
