"""The estimate from people's labels alone. Its interval holds for any number of labels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit, undefined_estimate

from .label_sample import CheckedSample, LabelKind

_Chance = Callable[[float, float, float], float]
"""Function of the observed mean, the effective number of labels and the true mean. It returns the probability of
observing this mean or a higher one.
"""
_STEPS = 300


def label_counts(data: CheckedSample) -> Counts:
    """Return the counts of a sample: `planned` is the number of rows, `valid` the number of labels. Rows without a
    label count as not graded.
    """
    return Counts(data.rows, data.labels).having(
        projects_with_labels=data.labelled_projects,
        no_answer_of_the_judge=data.silent,
        labels_not_drawn_and_left_out=data.routed,
    )


def labels_only(data: CheckedSample, kind: LabelKind, name: str, level: float = 0.95) -> Estimate:
    """Estimate the mean of people's labels. Strata are weighted by their number of rows.

    Passes have the interval of Clopper and Pearson. Scores and preferences have the bound of Chernoff and Hoeffding
    (1963, theorem 1), because they may lie anywhere in 0..1. Both intervals are exact if each label belongs to a
    different project and all labels represent equally many rows: passes of unequal strata vary less than passes of a
    single stratum (Hoeffding 1956). Otherwise both use the effective number of labels (see `effective_labels`). Without
    any label the estimate has no value, only a reason.
    """
    counts = label_counts(data)
    if not data.labels:
        return undefined_estimate(name, "people labelled none of the drawn rows", counts)
    weight = data.weights / data.weights.sum()
    value = min(float(weight @ data.people), 1.0)
    worth = effective_labels(data, value)
    chance = _binomial if kind is LabelKind.RATE else _chernoff
    tail = (1 - level) / 2
    low, high = _low(value, worth, chance, tail), 1 - _low(1 - value, worth, chance, tail)
    method = "Clopper-Pearson" if kind is LabelKind.RATE else "Chernoff-Hoeffding"
    known = worth(value)
    told = f"exact ({method})" if abs(known - data.labels) < 1e-6 else f"{method}, {known:.1f} effective labels"
    missing = f"strata with labels; none in {', '.join(data.empty)}" if data.empty else ""
    found = Estimate(name, value, counts, min(low, value), max(high, value), level, told, unit=Unit.SHARE)
    return found.conditional_on_more(missing)


def effective_labels(data: CheckedSample, value: float) -> Callable[[float], float]:
    """Return a function from the true mean to the effective number of labels: as many independent labels would vary as
    much as the labels of this sample.

    `value` is the observed mean. Labels of one project are assumed to be correlated as strongly as observed, plus one
    standard error. The pass rates of the strata are unknown apart from their mean. The rates with the highest variance
    are assumed: if few labels pass, all passes may lie in the stratum whose labels represent most rows.
    """
    weight = data.weights / data.weights.sum()
    others = np.bincount(data.project, weights=weight)[data.project] - weight
    varies = weight * (weight + _correlation(data, value) * others)
    seen = data.per_stratum[1] > 0
    share, spread = (np.bincount(data.stratum, weights=v, minlength=len(seen))[seen] for v in (weight, varies))
    # The variance, at most the sum of spread * p * (1 - p), is greatest where each p follows from one multiplier.
    steep = spread / share
    multipliers = np.append(np.geomspace(steep.max(), steep.min() / 100, _STEPS)[1:], 0.0)
    rates = np.maximum(1 - np.outer(multipliers, 1 / steep), 0) / 2
    means = rates @ share
    found = means * (1 - means) / ((rates * (1 - rates)) @ spread)
    return lambda mean: float(np.interp(min(mean, 1 - mean), means, found))


def _correlation(data: CheckedSample, value: float) -> float:
    """Estimate the correlation between labels of the same project, plus one standard error."""
    project, people = data.project[data.has], data.people[data.has] - value
    size, total, squares = (np.bincount(project, weights=v) for v in (np.ones(len(people)), people, people**2))
    pairs = size * (size - 1)
    if not pairs.any():
        return 0.0
    spread = float(squares.sum() / len(people))
    if spread <= 1e-12:
        return 1.0
    seen = float((total**2 - squares).sum() / pairs.sum() / spread)
    return min(max(seen, 0.0) + math.sqrt(float((pairs**2).sum())) / float(pairs.sum()), 1.0)


def _low(value: float, worth: Callable[[float], float], chance: _Chance, tail: float) -> float:
    """Return the smallest true mean at which the observed mean, or a higher one, has the probability `tail`."""
    from scipy.optimize import brentq

    if value <= 0:
        return 0.0
    return float(
        brentq(
            lambda mean: chance(value, worth(mean), mean) - tail, 0.0, min(value, math.nextafter(1.0, 0.0)), xtol=1e-12
        )
    )


def _binomial(value: float, labels: float, mean: float) -> float:
    """Return the probability of Clopper and Pearson's interval, for a number of labels that may be fractional (Korn and
    Graubard 1998).
    """
    from scipy.special import betainc

    return float(betainc(value * labels, (1 - value) * labels + 1, mean))


def _chernoff(value: float, labels: float, mean: float) -> float:
    """Return an upper bound of the probability described at `_Chance`, for means of values in 0..1."""
    from scipy.special import kl_div

    if mean <= 0:
        return 0.0
    return math.exp(-labels * float(kl_div(value, mean) + kl_div(1 - value, 1 - mean)))
