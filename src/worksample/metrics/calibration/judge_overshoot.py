"""Overshoot of a judge: the judge's pass rate divided by people's pass rate."""

from __future__ import annotations

import math

from worksample.metrics.estimate import Estimate, Unit, undefined_estimate

from .label_sample import LEAST, LabelKind, Sample, check_sample
from .labels_only_estimate import label_counts
from .prediction_powered import Parts, refusal_reason


def overshoot_of(
    sample: Sample,
    kind: LabelKind = LabelKind.RATE,
    *,
    name: str = "overshoot",
    least: int = LEAST,
    level: float = 0.95,
) -> Estimate:
    """Return the judge's mean divided by the corrected mean of people's answers. RLI's judges overshoot by a factor of
    2.5 to 3 on the newest models.

    The interval is Fieller's (1954): all factors r for which judge - r * people may be 0. It accounts for the
    correlation of both means by project. If the mean of people's answers may be 0, the interval has no upper end, and a
    note says so. With fewer than `least` labelled projects the estimate has no value, and its reason says so.
    """
    data = check_sample(sample, kind)
    counts = label_counts(data)
    why = refusal_reason(data, least)
    if why:
        return undefined_estimate(name, why, counts, Unit.RATIO)
    parts = Parts(data, kind, level)
    tuning = parts.best_lambda()
    judge, people = float(data.judge.mean()), parts.value(tuning)
    if people <= 0:
        return undefined_estimate(name, "people passed nothing: any factor is possible", counts, Unit.RATIO)
    low, high = _fieller(parts, tuning, judge)
    value = judge / people
    found = Estimate(
        name, value, counts, min(low, value), None if high is None else max(high, value), level,
        "Fieller, by project", unit=Unit.RATIO,
    )  # fmt: skip
    return found.noting("no upper end: people may pass next to nothing" if high is None else "")


def _fieller(parts: Parts, tuning: float, judge: float) -> tuple[float, float | None]:
    """Return the lower and the upper end of Fieller's interval: the factors r with (judge - r * people)**2 <= q**2 *
    var(judge - r * people). The upper end is None if the interval is unbounded.
    """
    people, variance = parts.at(tuning)
    own, both = parts.judge_moments(tuning)
    q2 = parts.quantile**2
    a, b, c = people**2 - q2 * variance, judge * people - q2 * both, judge**2 - q2 * own
    if a <= 0:
        # Beyond some r nothing is excluded: only the lower end exists.
        return _lower(a, b, c), None
    spread = math.sqrt(max(b * b - a * c, 0.0))
    return max(0.0, (b - spread) / a), (b + spread) / a


def _lower(a: float, b: float, c: float) -> float:
    """Return the smallest r > 0 with a r**2 - 2 b r + c <= 0, for a <= 0. Return 0 if every r fulfils the condition."""
    if c <= 0:
        return 0.0
    if a == 0:
        return c / (2 * b) if b > 0 else 0.0
    root = math.sqrt(b * b - a * c)
    return max(0.0, (b - root) / a, (b + root) / a)
