"""Audits and integrity reviews: figures with and without struck work, and a bound on missed good deliverables (RLI
B.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, flags, same_length, series
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.intervals import exact_upper


@dataclass(frozen=True, slots=True)
class Struck:
    """A figure with and without struck work. `with_all` counts everything, `without` leaves out struck rows; `struck`
    is their number.
    """

    with_all: Estimate
    without: Estimate
    struck: int

    @property
    def change(self) -> float | None:
        """`without` minus `with_all`; None if either has no value."""
        if self.with_all.value is None or self.without.value is None:
            return None
        return self.without.value - self.with_all.value


def with_and_without(
    metric: Callable[..., Estimate], struck: Column, columns: Mapping[str, Column], **options: object
) -> Struck:
    """Return `metric(**columns, **options)` on all rows, and on those not struck. `struck`: booleans, none missing."""
    same_length(struck=struck, **columns)
    out, known = flags("struck", struck)
    if not known.all():
        raise UsageError("a row does not say whether it was struck", where="column 'struck'", next="pass True or False")
    table = {name: series(name, column) for name, column in columns.items()}
    count = int(out.sum())
    kept = {name: column.filter(series("kept", ~out)) for name, column in table.items()}
    return Struck(
        metric(**table, **options).conditional_on_more("struck trials included")
        if count
        else metric(**table, **options),
        metric(**kept, **options).conditional_on_more(f"{count} struck trials left out")
        if count
        else metric(**table, **options),
        count,
    )


def false_negative_bound(found: int, audited: int, level: float = 0.95) -> Estimate:
    """Return the rate of false negatives among `audited` items, `found` of which were wrong, with its one-sided exact
    bound.

    With none found among n, the bound at 95 % is 1 - 0.05 ** (1 / n): 5.8 % for RLI's 50.
    """
    if not 0 <= found <= audited:
        raise UsageError(
            f"{found} errors among {audited} audited items is impossible", next="pass 0 <= found <= audited"
        )
    counts = Counts(audited, audited).having(found=found)
    name = "false negatives"
    if not audited:
        return Estimate(name, None, counts, unit=Unit.SHARE, reason="nothing was audited")
    value = Fraction(found, audited)
    high = exact_upper(found, audited, level)
    note = f"one-sided: the rate is at most {high:.4g} with {level:.0%} confidence"
    return Estimate(
        name, float(value), counts, 0.0, high, level, "exact, one-sided", unit=Unit.SHARE, notes=(note,), exact=value
    )
