"""Dollars earned: the sum of the human's prices of the projects on which an agent's work was accepted (RLI 3.3, Table
4; UpBench 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    MONEY_CEILING,
    Column,
    Flags,
    Floats,
    codes,
    count_flags,
    flags,
    floats,
    money,
    same_length,
    series,
)
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.shares_and_means import nothing_valid, valid_rows
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling, group_sums

NO_CHANCE = "a sum of known prices: no interval"
ILLUSTRATIVE = "illustrative prices left out"
WITH_ILLUSTRATIVE = "illustrative prices counted"


@dataclass(frozen=True, slots=True)
class Dollars:
    """Dollars `earned`, dollars `possible`, and their share, over graded projects with a known price.

    `missing` is the total price of projects without a verdict; `possible` plus `missing` is the total price of all
    priced projects (RLI 3.3: $143,991). The counts of these figures say how many projects have no price; such projects
    are in no sum.
    """

    earned: Estimate
    possible: Estimate
    share: Estimate
    missing: Estimate


@dataclass(frozen=True, slots=True)
class Priced:
    """Prices, a flag per price that says whether it may be used, and notes about the prices that may not."""

    prices: Floats
    usable: Flags
    missing: int
    illustrative: int
    says: tuple[str, ...]

    @property
    def known_prices(self) -> Floats:
        """The prices in US dollars, with 0 in place of a price that may not be used."""
        return self.prices if self.usable.all() else np.where(self.usable, self.prices, 0.0)


def usable_prices(
    name: str, price: Column, illustrative: Column | None, *, include: bool, ceiling: float = MONEY_CEILING
) -> Priced:
    """Return the prices and which of them may be used. Unknown prices may not be used. Illustrative prices may be used
    only if `include` is set, and a note then names them.
    """
    prices, known = money(name, price, ceiling=ceiling)
    invented = np.zeros(len(prices), dtype=bool)
    if illustrative is not None:
        same_length(**{name: price, "illustrative": illustrative})
        invented = flags("illustrative", illustrative)[0] & known
    count = count_flags(invented)
    says = ((WITH_ILLUSTRATIVE if include else ILLUSTRATIVE),) if count else ()
    return Priced(prices, known if include else known & ~invented, count_flags(~known), count, says)


def midpoint(low: Column, high: Column) -> Floats:
    """Return the middle of each reported range of costs or hours, or the single number if only one end is given (RLI
    C.5).

    The result is NaN if neither end is known. Raises UsageError if the upper end is below the lower end.
    """
    same_length(low=low, high=high)
    below, has_low = floats("low", low, low=0.0)
    above, has_high = floats("high", high, low=0.0)
    both = has_low & has_high
    if (wrong := both & (np.nan_to_num(above) < np.nan_to_num(below))).any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"row {row}: high {above[row]:g} is below low {below[row]:g}",
            where="columns 'low' and 'high'",
            next="pass low <= high",
        )
    return np.where(both, (below + above) / 2, np.where(has_low, below, above))


def dollars_earned(
    price: Column,
    passed: Column,
    *,
    state: Column | None = None,
    illustrative: Column | None = None,
    include_illustrative: bool = False,
    ceiling: float = MONEY_CEILING,
    task: Column | None = None,
    failed: Column | None = None,
    how: Resampling = DEFAULT,
) -> Dollars:
    """Return the total price of the projects that one agent passed.

    `price` is the price of the human's deliverable in US dollars. A project without a price is left out of both sums.
    If a project has several rows (repeats), each row has an equal part of the price. `passed` is null if the row has no
    verdict; such rows are left out of both sums and counted.

    The `bounds` cover all priced projects: rows without a verdict fail in one case and pass in the other. Rows flagged
    in `failed` fail in both cases. Rows with the same `task` count as one unit; without `task` every row is a unit. The
    interval is that of the share, multiplied by the total price. Raises UsageError for a negative price and for a price
    above `ceiling`.
    """
    same_length(price=price, passed=passed, state=state, task=task)
    priced = usable_prices("price", price, illustrative, include=include_illustrative, ceiling=ceiling)
    yes, present = flags("passed", passed)
    valid, counts = valid_rows("passed", present, state)
    rows = valid & priced.usable
    counts = counts.having(
        priced=count_flags(rows), passed=count_flags(yes & rows), without_a_price=priced.missing,
        illustrative=priced.illustrative,
    )  # fmt: skip
    value = np.where(rows, priced.known_prices, 0.0)
    notes = _ungraded_worth(priced, valid)
    open_, most = _bounds(priced, valid, yes, failed)
    given = ("graded projects with a known price", *priced.says)
    missing = _missing(priced, valid, counts)
    if not rows.any():
        why = nothing_valid(counts) if not counts.valid else "no graded project has a price"
        none = [Estimate(n, None, counts, unit=u, reason=why, conditional_on=given) for n, u in _NAMES]
        return Dollars(none[0], none[1], none[2], missing)
    earned, worth = by_task(task, rows, value * (yes & rows), value)
    total, possible = float(earned.sum()), float(worth.sum())
    blank = partial(Estimate, counts=counts, conditional_on=given)
    if not possible:
        worthless = "the prices of the projects add up to 0"
        return Dollars(
            blank("dollars earned", 0.0, unit=Unit.USD, notes=(*notes, worthless)),
            blank("dollars possible", 0.0, unit=Unit.USD, notes=(*notes, NO_CHANCE)),
            blank("share of dollars", None, unit=Unit.SHARE, reason=worthless, notes=notes),
            missing,
        )
    ends, note = units.share_of_sums(earned, worth, how.level)
    said = (*notes, note) if note else notes
    low, high = (None if end is None else end * possible for end in (ends.low, ends.high))
    scaled = Interval(low, high, ends.level, ends.method, ends.error and ends.error * possible)
    return Dollars(
        blank(
            "dollars earned",
            total,
            low=scaled[0],
            high=scaled[1],
            level=ends.level,
            method=ends.method,
            error=scaled.error,
            unit=Unit.USD,
            notes=said,
            bounds=open_,
        ),
        blank("dollars possible", possible, unit=Unit.USD, notes=(*notes, NO_CHANCE)),
        blank(
            "share of dollars",
            total / possible,
            **ends._asdict(),
            unit=Unit.SHARE,
            notes=said,
            bounds=None if open_ is None else (open_[0] / most, open_[1] / most),
        ),
        missing,
    )


def _missing(priced: Priced, valid: Flags, counts: Counts) -> Estimate:
    """Return the total known price of projects that have no verdict."""
    unseen = priced.usable & ~valid
    counts = counts.having(ungraded_and_priced=count_flags(unseen))
    name, worth = "dollars missing", float(priced.prices[unseen].sum())
    if not priced.usable.any():
        return Estimate(name, None, counts, unit=Unit.USD, reason="no project has a price", conditional_on=priced.says)
    return Estimate(name, worth, counts, unit=Unit.USD, notes=(NO_CHANCE,), conditional_on=priced.says)


def _bounds(
    priced: Priced, valid: Flags, yes: Flags, failed: Column | None
) -> tuple[tuple[float, float] | None, float]:
    """Return the smallest and largest amount that all priced projects can earn, and their total price. The two amounts
    are None if every project has a verdict.
    """
    unseen = priced.usable & ~valid
    value = priced.known_prices
    if not unseen.any():
        return None, float(value.sum())
    may = unseen if failed is None else unseen & ~flags("failed", failed)[0]
    least = float(value[valid & yes].sum())
    return (least, least + float(value[may].sum())), float(value.sum())


def by_task(task: Column | None, rows: Flags, *columns: Floats) -> tuple[Floats, ...]:
    """Return the sums of the columns per task over the flagged rows. Without `task` every row is a task."""
    if task is None:
        return columns if rows.all() else tuple(column[rows] for column in columns)
    found = codes("task", series("task", task).filter(pl.Series(rows)))
    return tuple(group_sums(found.index, found.size, *(column[rows] for column in columns)).T)


def means_by_task(task: Column | None, rows: Flags, *columns: Floats) -> tuple[Floats, ...]:
    """Return the means of the columns per task over the flagged rows. Without `task` every row is a task."""
    if task is None:
        return by_task(None, rows, *columns)
    *sums, trials = by_task(task, rows, *columns, np.ones(len(rows)))
    return tuple(each / trials for each in sums)


_NAMES = (("dollars earned", Unit.USD), ("dollars possible", Unit.USD), ("share of dollars", Unit.SHARE))


def _ungraded_worth(priced: Priced, valid: Flags) -> tuple[str, ...]:
    unseen = priced.usable & ~valid
    if not unseen.any():
        return ()
    return (f"{count_flags(unseen)} priced projects worth ${priced.prices[unseen].sum():,.0f} are not graded",)
