"""Selection of the plots of a report, from the leaderboard and from the sections of figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

from worksample.metrics import Approach, Estimate, Unit, decide_by_value
from worksample.reports.heat_map import HeatMap, heat_table
from worksample.reports.leaderboard_frame import Leaderboard
from worksample.reports.plots import (
    Axis,
    Bars,
    Canvas,
    DatedFigure,
    budget_curves,
    curve_over_time,
    grouped_bars,
    heat_map,
    interval_bars,
    resources,
    score_spread,
    scores_over_time,
    value_curves,
)

if TYPE_CHECKING:
    import polars as pl

    from worksample.reports.sections import Section, SectionRow

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
HUMAN_ELO = 1000.0
VALUE_AGENTS = 6
"""Maximum number of agents with a plot of expected value by task value. The table contains all agents."""
CURVES = 10
"""Maximum number of agents in a plot of curves. The table contains all agents."""
BUDGETS = {
    "cost": ("US dollars per trial", "Mean score if no trial could have spent more dollars."),
    "seconds": ("seconds per trial", "Mean score if no trial could have taken more time."),
    "tokens": ("tokens per trial", "Mean score if no trial could have used more tokens."),
}
PAIRED = (
    (("p1", "p overall"), "completion", "Completion: first attempts, and with re-attempts.", "share of jobs"),
    (
        ("rubric score, first", "rubric score, overall"),
        "rubric",
        "Rubric score: first attempts, and with re-attempts.",
        "mean rubric score",
    ),
)
"""Estimates drawn side by side if a section has both (UpBench Figures 3 and 5): names, file, caption, axis."""
SINGLE = (
    ("automation rate", "automation", "Automation rate: accepted as the commissioned work.", "share of projects"),
    ("relative lift", "lift", "Relative lift: jobs passed by re-attempts per job passed at first.", "ratio"),
    ("rescue rate", "rescue", "Rescue rate: the share of failed jobs that passed when tried again.", "share"),
    ("dollars earned", "dollars", "Dollars earned.", "US dollars"),
)


def board_charts(canvas: Canvas, board: Leaderboard, frame: pl.DataFrame, released: Mapping[str, date | None]) -> None:
    """Draw pass rates, score against resources and by release date, and the distribution of scores. `released`: release
    dates by agent id.
    """
    names = [r.label for r in board.rows]
    told = f"share of graded trials that pass in full, with {board.level} interval"
    axis = Axis("pass", "Full passes per agent.", told, share=True)
    interval_bars(canvas, axis, Bars(names, {"pass": [r.passed for r in board.rows]}))
    resources(canvas, names, board.rows)
    dated = [DatedFigure(r.label, day, r.score) for r in board.rows if (day := released.get(r.agent)) is not None]
    says = "Mean score by the release date of the model. Dashed: the best so far."
    scores_over_time(canvas, Axis("score-released", says, "mean score", share=True), dated)
    score_spread(canvas, frame)


def measured_charts(canvas: Canvas, sections: Sequence[Section]) -> None:
    """Draw Elo, automation, dollars, completion, lifts, and autoflation over time, if the sections contain them."""
    elo = _first_estimates(sections, lambda e: e.unit is Unit.ELO)
    if elo.labels:
        caption = "Elo with intervals; dashed: the human, 1,000."
        interval_bars(canvas, Axis("elo", caption, "Elo"), elo, mark=HUMAN_ELO)
    for name, file, caption, says in SINGLE:
        bars = _first_estimates(sections, _is(name))
        if bars.labels:
            share = next(iter(bars.series.values()))[0].unit is Unit.SHARE
            interval_bars(canvas, Axis(file, caption, says, share=share), _rank_bars(bars))
    for names, file, caption, says in PAIRED:
        both = [_first_estimates(sections, _is(name)) for name in names]
        if both[0].labels and (both[0].labels, *both[0].series) == (both[1].labels, *both[1].series):
            series = {name: next(iter(b.series.values())) for name, b in zip(names, both, strict=True)}
            grouped_bars(canvas, Axis(file, caption, says, share=True), Bars(both[0].labels, series))
    _value_charts(canvas, sections)
    _budget_charts(canvas, sections)
    caption = "Autoflation as agents are released: how much cheaper the bundle gets."
    days = {label: e for label, e in _cells(sections) if e.name == "autoflation" and _DAY.fullmatch(label)}
    curve_over_time(canvas, Axis("autoflation", caption, "autoflation", share=True), days)


def _value_charts(canvas: Canvas, sections: Sequence[Section]) -> None:
    """Draw expected value by task value, with UpBench's regions (5.4), for the most successful agents of section
    `value`.
    """
    for section in sections:
        if section.id.partition("-")[0] != "value":
            continue
        agents = [list(rows) for _, rows in groupby(section.rows, key=lambda r: r.label.rpartition(": ")[0])]
        agents.sort(key=_success, reverse=True)
        for place, rows in enumerate(agents[:VALUE_AGENTS], start=1):
            lines = [a for row in rows if (a := _approach(row)) is not None]
            if len(lines) < 2:
                continue
            who = rows[0].label.rpartition(": ")[0]
            caption = f"When each approach pays: {who}. Dashed: the values at which two break even."
            axis = Axis(f"{section.id}-{place}", caption, "expected net value, US dollars")
            value_curves(canvas, axis, lines, decide_by_value(lines))
        return


def _budget_charts(canvas: Canvas, sections: Sequence[Section]) -> None:
    """Draw the score under a budget, for the agents with the highest scores."""
    for section in sections:
        what = section.id.partition("budget-")[2]
        if what not in BUDGETS:
            continue
        budgets = [float(re.sub(r"[^0-9.e+-]", "", column)) for column in section.columns]
        lines = {row.label: [c for c in row.cells if isinstance(c, Estimate)] for row in section.rows}
        whole = {name: cells for name, cells in lines.items() if len(cells) == len(budgets) and _last(cells) >= 0}
        best = sorted(whole, key=lambda name: (-_last(whole[name]), name))[:CURVES]
        says, caption = BUDGETS[what]
        axis = Axis(f"budget-{what}", caption, says, share=True)
        budget_curves(canvas, axis, budgets, {name: whole[name] for name in whole if name in best})


def _last(cells: Sequence[Estimate]) -> float:
    """Return the score at the largest budget. If there is no such score, return a number below all scores."""
    return -1.0 if cells[-1].value is None else cells[-1].value


def _success(rows: Sequence[SectionRow]) -> float:
    """Return the success of an agent's first line, to sort by. Lines without an estimate come last."""
    first = rows[0].cells[0]
    return first.value if isinstance(first, Estimate) and first.value is not None else -1.0


def _approach(row: SectionRow) -> Approach | None:
    """Return the line's first two cells, success and cost per job, given as estimates or, for the human, as text."""
    name = row.label.rpartition(": ")[2]
    success, cost = row.cells[:2]
    if isinstance(success, Estimate) and isinstance(cost, Estimate):
        known = success.value is not None and cost.value is not None
        return Approach(name, success.value or 0.0, cost.value or 0.0) if known else None
    if isinstance(success, str) and isinstance(cost, str):
        return Approach(name, float(success.split()[0]) / 100, float(cost.replace(",", "")))
    return None


def heat_charts(canvas: Canvas, tasks: HeatMap | None, groups: HeatMap) -> None:
    """Draw the heat maps per task (if tasks may be shown) and per category."""
    for name, caption, heat in (
        ("heat-tasks", "Mean score per task.", tasks),
        ("heat-categories", "Mean score per category.", groups),
    ):
        if heat is None:
            continue
        agents = list(dict.fromkeys(a.name for a in heat.agents))
        heat_map(canvas, Axis(name, caption, "mean score"), [r.task for r in heat.rows], agents, heat_table(heat))


def _rank_bars(bars: Bars) -> Bars:
    """Sort bars by value, best first. Bars without a value come last."""
    ((name, estimates),) = bars.series.items()
    order = sorted(
        zip(bars.labels, estimates, strict=True),
        key=lambda b: -(b[1].value if b[1].value is not None else float("-inf")),
    )
    return Bars([text for text, _ in order], {name: [e for _, e in order]})


def _is(name: str) -> Callable[[Estimate], bool]:
    return lambda e: e.name == name


def _cells(sections: Iterable[Section]) -> Iterator[tuple[str, Estimate]]:
    for section in sections:
        for row in section.rows:
            for cell in row.cells:
                if isinstance(cell, Estimate):
                    yield row.label, cell


def _first_estimates(sections: Sequence[Section], wanted: Callable[[Estimate], bool]) -> Bars:
    """Return bars from the first section that contains a wanted estimate: the first wanted estimate of each of its
    lines.
    """
    for section in sections:
        found = []
        for row in section.rows:
            cell = next((c for c in row.cells if isinstance(c, Estimate) and wanted(c)), None)
            if cell is not None:
                found.append((row.label, cell))
        if found:
            return Bars([label for label, _ in found], {section.id: [e for _, e in found]})
    return Bars([], {})
