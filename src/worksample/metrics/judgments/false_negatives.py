"""How many good deliverables an audit may have missed: an exact bound from what it found (RLI B.5)."""

from __future__ import annotations

from fractions import Fraction

from worksample.errors import UsageError
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty.intervals import exact_upper


def false_negative_bound(found: int, audited: int, level: float = 0.95) -> Estimate:
    """The rate of false negatives among `audited` items of which `found` were wrong, with its one-sided exact bound.

    Nothing found among n gives 1 - 0.05 ** (1 / n) at 95 %: 5.8 % for RLI's 50.
    """
    if not 0 <= found <= audited:
        raise UsageError(f"{found} found among {audited} audited", next="pass 0 <= found <= audited")
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
