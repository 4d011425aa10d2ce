"""Autoflation: the relative fall in the price of a fixed bundle of projects if each project is done by the cheapest
method that delivers acceptable work (RLI 3.3, A.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    MONEY_CEILING,
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    count_flags,
    days,
    flags,
    money,
    same_length,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling, group_sums

from .dollars_earned import Priced, usable_prices


@dataclass(frozen=True, slots=True)
class Bundle:
    """The fixed bundle of projects: one row per project with its name and the human's price in US dollars (null if
    unknown).
    """

    project: Column
    human_cost: Column
    illustrative: Column | None = None
    include_illustrative: bool = False
    ceiling: float = MONEY_CEILING
    task: Column | None = None
    """The task of each project. Projects with the same task count as one unit of the interval. Without this column
    every project is a unit.
    """


@dataclass(frozen=True, slots=True)
class _Work:
    """Trials that passed at a known cost, on projects with a known human price."""

    project: Ints
    cost: Floats
    rows: Flags
    counts: Counts
    open_: Flags
    """Flag per project: true if the project has trials but none of them has a verdict."""
    task: Ints
    """Number of the unit (task) of each project."""


def measure_autoflation(
    bundle: Bundle, project: Column, ai_cost: Column, passed: Column, how: Resampling = DEFAULT
) -> Estimate:
    """Return autoflation: 1 - sum(min(human price, cheapest accepted AI cost)) / sum(human price), over projects with a
    known human price.

    The columns have one row per trial, of any number of agents. `ai_cost` is in US dollars; 0 is valid, and a trial
    with an unknown cost (null) cannot lower a price. `passed` is null if the trial has no verdict. A project that has
    trials but no verdict is left out of both sums. A project without any trial stays at the human's price. An AI that
    costs more than the human changes nothing.

    The estimate has no value if the human prices add up to 0. Raises UsageError for a trial on a project outside the
    bundle, and for a project that the bundle lists twice.
    """
    priced, work = _read_columns(bundle, project, ai_cost, passed)
    return _estimate(priced, work, work.rows, how)


def autoflation_over_time(
    bundle: Bundle, project: Column, ai_cost: Column, passed: Column, date: Column, how: Resampling = DEFAULT
) -> dict[str, Estimate]:
    """Return autoflation for each release date of an agent, from all agents released by then. `date` is the release
    date of the agent of each trial.

    The keys are ISO dates in ascending order. The curve never falls. Raises UsageError for a trial without a date.
    """
    same_length(project=project, date=date)
    priced, work = _read_columns(bundle, project, ai_cost, passed)
    dates = codes("date", days(date))
    order = dates.labels.rank("dense").to_numpy().astype(np.int64)[dates.index]
    names = sorted((int(r), str(label)) for r, label in zip(dates.labels.rank("dense"), dates.labels, strict=True))
    return {name: _estimate(priced, work, work.rows & (order <= rank), how) for rank, name in names}


def _read_columns(bundle: Bundle, project: Column, ai_cost: Column, passed: Column) -> tuple[Priced, _Work]:
    same_length(project=project, ai_cost=ai_cost, passed=passed)
    same_length(project=bundle.project, human_cost=bundle.human_cost, task=bundle.task)
    priced = usable_prices(
        "human_cost",
        bundle.human_cost,
        bundle.illustrative,
        include=bundle.include_illustrative,
        ceiling=bundle.ceiling,
    )
    names = codes("project", bundle.project)
    if names.size != len(names.index):
        doubled = names.labels[int(np.flatnonzero(np.bincount(names.index) > 1)[0])]
        raise UsageError(
            f"{doubled} is in the bundle twice",
            where="column 'project'",
            next="give each project of the bundle one row",
        )
    place = np.empty(names.size, dtype=np.int64)
    place[names.index] = np.arange(names.size)
    where = _find(codes("project", project), names.labels, place)
    cost, known = money("ai_cost", ai_cost, ceiling=bundle.ceiling)
    yes, judged = flags("passed", passed)
    counts = Counts(len(cost), count_flags(judged), ungraded=count_flags(~judged)).having(
        projects=names.size,
        priced_projects=count_flags(priced.usable),
        passed=count_flags(yes & judged),
        passed_without_a_cost=count_flags(yes & judged & ~known),
        illustrative=priced.illustrative,
    )
    tried = np.bincount(where, minlength=names.size)
    told = tried if judged.all() else np.bincount(where[judged], minlength=names.size)
    task = np.arange(names.size) if bundle.task is None else codes("task", bundle.task).index
    return priced, _Work(where, cost, yes & judged & known, counts, (tried > 0) & (told == 0), task)


def _find(rows: Codes, labels: pl.Series, place: Ints) -> Ints:
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    if not len(labels):
        raise UsageError(
            f"project {rows.labels[int(rows.index[0])]} is not in the bundle",
            where="column 'project'",
            next="give the bundle a row for each project that was tried",
        )
    kind = labels.dtype if labels.dtype == rows.labels.dtype else pl.String
    table = pl.DataFrame({"name": labels.cast(kind), "place": place})
    named = pl.DataFrame({"name": rows.labels.cast(kind)})
    found = named.join(table, on="name", how="left", maintain_order="left")
    if found["place"].null_count():
        stray = found.filter(pl.col("place").is_null())["name"][0]
        raise UsageError(
            f"project {stray} is not in the bundle",
            where="column 'project'",
            next="give the bundle a row for each project that was tried",
        )
    return found["place"].to_numpy().astype(np.int64)[rows.index]


def _estimate(priced: Priced, work: _Work, rows: Flags, how: Resampling) -> Estimate:
    human = priced.known_prices
    known = priced.usable & ~work.open_
    cheapest = human.copy()
    accepted = np.flatnonzero(rows)
    np.minimum.at(cheapest, work.project[accepted], work.cost[accepted])
    saved = human - cheapest
    name = "autoflation"
    given = ("projects with a known human price, and with a verdict if any work was done", *priced.says)
    without, left = work.counts.special["passed without a cost"], count_flags(priced.usable & work.open_)
    notes = (
        *((f"{without} accepted trials without a cost cannot lower a price",) if without else ()),
        *((f"{left} projects on which no work is graded are left out, not counted as failed",) if left else ()),
    )
    counts = work.counts.having(cheaper_by_ai=count_flags(saved[known] > 0), ungraded_projects=left)
    worth = float(human[known].sum())
    if not worth:
        reason = (
            "no project has a price" if not priced.usable.any()
            else "no work on a project with a price is graded" if not known.any() else "the bundle is worth 0"
        )  # fmt: skip
        return Estimate(name, None, counts, unit=Unit.SHARE, reason=reason, conditional_on=given)
    part, whole = group_sums(
        work.task, int(work.task.max()) + 1, *(np.where(known, amount, 0.0) for amount in (saved, human))
    ).T
    ends, note = units.share_of_sums(part, whole, how.level)
    value = float(saved[known].sum() / worth)
    return Estimate(name, value, counts, *ends, Unit.SHARE, notes=notes, conditional_on=given).noting(note)
