"""The estimate: the type of every figure, with a value, an interval, counts and notes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from worksample.dollar_text import dollar_places
from worksample.errors import UsageError

from .counts import Counts
from .rounding import fixed_decimals, percent

if TYPE_CHECKING:
    import polars as pl


class Unit(StrEnum):
    SHARE = "share"
    """A share in 0..1, printed in percent."""
    POINTS = "points"
    """A difference of two shares, in -1..1, printed in percentage points."""
    SPREAD = "spread"
    """A standard deviation or a range of shares, 0 or more, printed in percentage points without a sign."""
    RATIO = "ratio"
    ELO = "elo"
    USD = "usd"
    HOURS = "hours"
    COUNT = "count"
    NUMBER = "number"


_DIGITS = {Unit.RATIO: 3, Unit.ELO: 0, Unit.USD: 2, Unit.HOURS: 1, Unit.COUNT: 0}
_PERCENT = {Unit.SHARE: 1, Unit.POINTS: 1, Unit.SPREAD: 1}


_LEAST_HOURS = 0.05
"""Number of hours below which hours are printed with two significant digits, because one decimal would print 0.0."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure. If `value` is None, `reason` says why; otherwise `reason` is empty.

    `low` and `high` are the ends of the interval at confidence `level`, computed by `method`. An end is None if the
    figure has no interval or the interval is unbounded on that side; a note then says so. `exact` is the value as a
    rational number if counts determine it; printing rounds this number half up. `conditional_on` lists the assumptions
    and omissions that a reader must know to understand the figure.
    """

    name: str
    value: float | None
    counts: Counts
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    error: float | None = None
    """Standard error of the value. None if it is unknown, or if all observed values are equal, since an error of 0
    would be wrong.
    """
    unit: Unit = Unit.NUMBER
    reason: str = ""
    notes: tuple[str, ...] = ()
    conditional_on: tuple[str, ...] = ()
    exact: Fraction | None = None
    bounds: tuple[float, float] | None = None
    """Smallest and largest possible value after everything planned is graded. None if everything is graded."""
    digits: int | None = None
    """Number of decimals to print. None means the default of the unit; another number follows a published table."""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            what = "a figure needs either a value or a reason why it has none"
            raise UsageError(what, where=f"estimate {self.name!r}", next="pass value or reason")
        for end in (self.value, self.low, self.high):
            if end is not None and not math.isfinite(end):
                what = f"{end} is not a finite number"
                raise UsageError(what, where=f"estimate {self.name!r}", next="pass a finite number, or None")
        if self.low is not None and self.high is not None and self.low > self.high:
            what = f"low {self.low} is above high {self.high}"
            raise UsageError(what, where=f"estimate {self.name!r}", next="pass low <= high")

    def format_value(self, digits: int | None = None) -> str:
        """Return the value as text, rounded as in published tables and without the sign of its unit: "1.3" for 3/240,
        "-" if the value is None.
        """
        if self.value is None:
            return "-"
        number = self.exact if self.exact is not None else self.value
        digits = self.digits if digits is None else digits
        if self.unit in _PERCENT:
            return percent(number, _PERCENT[self.unit] if digits is None else digits)
        places = _DIGITS.get(self.unit, 3) if digits is None else digits
        if digits is None and self.unit is Unit.HOURS and 0 < abs(float(number)) < _LEAST_HOURS:
            return f"{float(number):.2g}"
        if self.unit is Unit.USD and digits is None:
            places = dollar_places(float(number))
        return fixed_decimals(number, places)

    def as_dict(self) -> dict[str, object]:
        """Return the figure as a dictionary of JSON types."""
        return {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "method": self.method,
            "error": self.error,
            "bounds": None if self.bounds is None else list(self.bounds),
            "unit": str(self.unit),
            "reason": self.reason,
            "counts": self.counts.as_dict(),
            "notes": list(self.notes),
            "conditional_on": list(self.conditional_on),
            "printed": self.format_value(),
        }

    def noting(self, *notes: str) -> Estimate:
        """Return the figure with further notes. Empty notes are dropped."""
        return replace(self, notes=(*self.notes, *(note for note in notes if note)))

    def conditional_on_more(self, *conditions: str) -> Estimate:
        """Return the figure with further entries in `conditional_on`. Empty entries are dropped."""
        return replace(self, conditional_on=(*self.conditional_on, *(c for c in conditions if c)))

    def renamed_to(self, name: str) -> Estimate:
        return replace(self, name=name)

    def to(self, digits: int) -> Estimate:
        """Return the figure with `digits` set, the number of decimals to print."""
        return replace(self, digits=digits)


def undefined_estimate(name: str, reason: str, counts: Counts | None = None, unit: Unit = Unit.SHARE) -> Estimate:
    """Return a figure without a value, with the reason why the value is missing."""
    return Estimate(name, None, counts or Counts(0, 0), unit=unit, reason=reason)


def tabulate(estimates: Mapping[str, Estimate] | Iterable[Estimate]) -> pl.DataFrame:
    """Return figures as a table with one row per figure.

    The columns are group (the key of the mapping), name, printed, value, low, high, level, counts, error, worst and
    best (the bounds), method, reason, notes, conditional_on. Special counts, notes and conditions are each joined into
    one text.
    """
    import polars as pl

    pairs = estimates.items() if isinstance(estimates, Mapping) else [("", e) for e in estimates]
    rows = [
        {
            "group": str(group),
            "name": e.name,
            "printed": e.format_value(),
            "value": e.value,
            "low": e.low,
            "high": e.high,
            "level": e.level,
            "unit": str(e.unit),
            "planned": e.counts.planned,
            "valid": e.counts.valid,
            "infrastructure_failed": e.counts.infrastructure_failed,
            "ungraded": e.counts.ungraded,
            "pending": e.counts.pending,
            "special": ", ".join(f"{name}: {count}" for name, count in e.counts.special.items()),
            "error": e.error,
            "worst": e.bounds[0] if e.bounds else None,
            "best": e.bounds[1] if e.bounds else None,
            "method": e.method,
            "reason": e.reason,
            "notes": "; ".join(e.notes),
            "conditional_on": "; ".join(e.conditional_on),
        }
        for group, e in pairs
    ]
    whole = dict.fromkeys(("planned", "valid", "infrastructure_failed", "ungraded", "pending"), pl.Int64)
    real = dict.fromkeys(("value", "low", "high", "level", "error", "worst", "best"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides={**whole, **real}) if rows else pl.DataFrame()
