"""Audits of results: figures with and without excluded ("struck") work, and an upper bound for the share of good
deliverables that were wrongly failed (RLI B.5).
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
    """A figure computed twice: `with_all` on all work, and `without` on all work except struck rows. `struck` is the
    number of struck rows.
    """

    with_all: Estimate
    without: Estimate
    struck: int

    @property
    def change(self) -> float | None:
        """The value of `without` minus the value of `with_all`. None if either has no value."""
        if self.with_all.value is None or self.without.value is None:
            return None
        return self.without.value - self.with_all.value


def with_and_without(
    metric: Callable[..., Estimate], struck: Column, columns: Mapping[str, Column], **options: object
) -> Struck:
    """Compute `metric(**columns, **options)` twice: on all rows, and on the rows that are not struck. `struck` must be
    true or false in every row.
    """
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
    """Return the share of wrong verdicts among `audited` failed items, `found` of which were wrong, with a one-sided
    exact upper bound.

    If no error is found among n items, the bound at 95 % is 1 - 0.05 ** (1 / n). For the 50 items of RLI it is 5.8 %.
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
