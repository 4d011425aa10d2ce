"""Prediction-powered estimation (PPI++, Angelopoulos, Duchi and Zrnic 2023): judges' answers corrected by people's
labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from worksample.metrics.column_checks import Floats, Ints
from worksample.metrics.estimate import Estimate, Unit, undefined_estimate
from worksample.metrics.uncertainty.intervals import blaker, check_level, normal_quantile, wilson

from .label_sample import LEAST, CheckedSample, LabelKind, Sample, check_sample
from .labels_only_estimate import label_counts, labels_only

_N = TypeVar("_N", float, Floats)
_SPENT = 3
"""Degrees of freedom that the interval of scores loses in addition to those for its means."""
_MISSED = 1.4
"""Factor by which an interval may miss the true value more often than its level says. With 1.4, an interval stated at
95 % covers at least 93 % for every pass rate.
"""
_CHOSEN = 0.14
"""Maximum share by which an interval from 20 labels is widened because lambda was chosen from the same labels."""
_GROUP = 10
"""Minimum number of labels in a group of strata, so that the labels of the group show their spread.

With 20 labels and seven strata with a mean each, the measured spread would be a third too small.
"""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A figure in three forms: corrected, from people's labels alone, and from the judge alone. Print `figure`; the
    other two explain it.
    """

    figure: Estimate
    """The corrected figure. With fewer than `least` labelled projects it has no value, and its reason says so."""
    labels: Estimate
    """The figure from people's labels alone. Its interval holds for any number of labels."""
    judge: Estimate
    """The figure from the judge's answers alone. It has no interval, because no interval would account for the judge's
    errors.
    """
    worth: Estimate
    """Gain by the judge: the variance of the figure without the judge divided by the variance with the judge.

    1.25 means that the labels are worth a quarter more with the judge than alone. The value is measured on this sample
    and may be different on other work.
    """
    tuning: float | None
    """The weight lambda of the judge in the corrected figure; None if the figure has no value."""

    @property
    def best_figure(self) -> Estimate:
        """The corrected figure if it has a value, otherwise the figure from people's labels alone."""
        return self.labels if self.figure.value is None else self.figure


def correct_by_labels(
    sample: Sample,
    kind: LabelKind = LabelKind.RATE,
    *,
    name: str = "corrected",
    least: int = LEAST,
    level: float = 0.95,
) -> Corrected:
    """Estimate the mean answer that people would give on all submissions, from a judge's answers on all submissions and
    people's labels on some.
    """
    check_level(level)
    data = check_sample(sample, kind)
    alone = labels_only(data, kind, f"{name}, labels alone", level)
    judge = _judge_alone(data, f"{name}, judge alone")
    why = refusal_reason(data, least)
    if why:
        nothing = undefined_estimate(f"{name}, labels' worth", why, label_counts(data), Unit.RATIO)
        return Corrected(undefined_estimate(name, why, label_counts(data)), alone, judge, nothing, None)
    parts = Parts(data, kind, level)
    tuning = parts.best_lambda()
    value = min(max(parts.value(tuning), 0.0), 1.0)
    variance = parts.at(tuning)[1]
    low, high = parts.interval(tuning)
    low, high = max(0.0, min(low, value)), min(1.0, max(high, value))
    figure = Estimate(name, value, label_counts(data), low, high, level, parts.method, unit=Unit.SHARE)
    ratio = parts.at(0.0)[1] / variance if variance > 0 else 1.0
    worth = Estimate(f"{name}, labels' worth", ratio, label_counts(data), unit=Unit.RATIO)
    return Corrected(figure.noting(*_notes(data, tuning)), alone, judge, worth, tuning)


def refusal_reason(data: CheckedSample, least: int) -> str:
    """Return the reason why the sample allows no corrected figure. The reason is empty if a corrected figure is
    allowed.
    """
    if not data.rows:
        return "nothing was judged"
    if data.silent == data.rows:
        return "the judge answered nothing"
    if data.empty:
        return f"no label in {', '.join(data.empty)}: draw some in each"
    if data.labels < least:
        return f"{data.labels} labels; a corrected figure needs at least {least}"
    if data.labelled_projects < least:
        return f"labels from {data.labelled_projects} projects; a corrected figure needs at least {least}"
    return ""


def _notes(data: CheckedSample, tuning: float) -> tuple[str, ...]:
    y, f = data.people[data.has], data.judge[data.has]
    return (
        "all labels agree, but differences that they do not show may exist" if np.ptp(y) == 0 else "",
        "judge and people agree on every label" if np.array_equal(y, f) and np.ptp(y) > 0 else "",
        "the judge adds nothing to the labels" if tuning == 0 else "",
    )


def _judge_alone(data: CheckedSample, name: str) -> Estimate:
    if data.silent == data.rows:
        return undefined_estimate(name, "the judge answered nothing", label_counts(data))
    found = Estimate(name, float(data.judge.mean()), label_counts(data), unit=Unit.SHARE)
    return found.noting("not corrected: no valid interval exists")


class Parts:
    """The corrected estimate and its variance as functions of lambda, the weight of the judge.

    `a` contains each project's influence on the mean of people's labels. `b` contains each project's influence on the
    difference between the judge's mean over all rows and over labelled rows. The influence on the estimate is a +
    lambda * b.
    """

    def __init__(self, data: CheckedSample, kind: LabelKind, level: float) -> None:
        self.data, self.level = data, level
        # Passes and preferences are counts, for which there is an exact interval.
        self.counts = kind is not LabelKind.SCORE
        labels = data.per_stratum[1]
        self.labels = data.labels
        strata = _group_strata(data.stratum, labels)
        size = int(strata.max()) + 1
        weight = data.weights
        every = data.judge.mean()
        means = [np.bincount(strata, weights=v, minlength=size) for v in (weight * data.people, weight * data.judge)]
        total = np.maximum(np.bincount(strata, weights=weight, minlength=size), 1e-300)
        self.people, self.judge = (float(m.sum() / data.rows) for m in means)
        y, f = ((m / total)[strata] for m in means)
        self.gap = float(every - self.judge)
        own_y, own_f = (_label_distances(data, strata, values) for values in (data.people, data.judge))
        self.a, self.a_own = self._sum(y - self.people), self._sum(weight * own_y)
        self.b, self.b_own = self._sum((data.judge - every) - (f - self.judge)), self._sum(-weight * own_f)
        self.pseudo = normal_quantile((1 + level) / 2) ** 2
        if kind is LabelKind.SCORE and (np.ptp(data.people[data.has] - data.judge[data.has]) > 0):
            self.pseudo = 0.0
        # The effective number of labels: equally weighted, they would vary as much (Kish 1965).
        self.worth = float(weight.sum() ** 2 / (weight**2).sum())
        self.kept = self.worth / (self.worth + self.pseudo)
        # One more is lost to lambda, and two to the skew of scores near an end of their range.
        used = int((labels > 0).sum())
        self.freedom = max(data.labelled_projects - used - (0 if self.pseudo else _SPENT), 1)
        self.quantile = self._quantile(level)
        # With t quantiles the labels' own part grows as the sample variance does; pseudo-labels do more than that.
        self.grown = 1.0 if self.pseudo else math.sqrt(self.labels / max(self.labels - size - _SPENT, 1))

    def _sum(self, values: Floats) -> Floats:
        data = self.data
        return np.bincount(data.project, weights=values, minlength=data.projects) / data.rows

    def _quantile(self, level: float) -> float:
        if self.pseudo and self.data.labelled_projects == self.labels:
            return normal_quantile((1 + level) / 2)
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2))

    @property
    def method(self) -> str:
        how = "pseudo-labels" if self.pseudo else f"t with {self.freedom} degrees of freedom"
        return f"PPI++ by project, {how}"

    def value(self, tuning: float) -> float:
        return self.people + tuning * self.gap

    def best_lambda(self) -> float:
        """The lambda in 0..1 that minimises the variance of the estimate. The variance is a parabola in lambda."""
        at = [self.at(x)[1] for x in (0.0, 0.5, 1.0)]
        curve, slope = 2 * (at[0] - 2 * at[1] + at[2]), -3 * at[0] + 4 * at[1] - at[2]
        if curve <= 1e-15:
            return 0.0
        best = min(max(-slope / (2 * curve), 0.0), 1.0)
        return 0.0 if best < 1e-9 else float(best)

    def judge_moments(self, tuning: float) -> tuple[float, float]:
        """Return the variance of the judge's mean over all rows, and the covariance of this mean with the estimate.
        Both are computed by project.
        """
        data = self.data
        groups = data.projects / max(data.projects - 1, 1)
        own = self._sum(data.judge - data.judge.mean())
        scale = self.kept * self.grown
        influence = self.a + scale * self.a_own + tuning * (self.b + scale * self.b_own)
        return float(own @ own) * groups, float(own @ influence) * groups

    def interval(self, tuning: float) -> tuple[float, float]:
        """Return the interval of the estimate at this lambda.

        For scores, the interval has Wilson's form for as many passes and fails as have this variance (Dean and Pagano
        2015), because means of scores near 0 or 1 are skewed. For other kinds, the interval is the centre plus and
        minus the quantile times the standard error.

        For counts, the interval is as wide as an exact interval if the judge adds no information, and narrower the more
        the judge adds. Without this correction the interval would cover only 84 to 89 % with a judge that always gives
        the same answer (`python -m benchmarks.coverage worst`). If lambda was chosen from the labels, the interval is
        wider (`tuning_penalty`).
        """
        center, variance = self.at(tuning)
        if not self.pseudo and variance > 0 and 0 < center < 1:
            z2 = self.quantile**2 * variance / (center * (1 - center))
            half = math.sqrt(z2 * center * (1 - center) + z2**2 / 4)
            return (center + z2 / 2 - half) / (1 + z2), (center + z2 / 2 + half) / (1 + z2)
        half = self.quantile * math.sqrt(variance)
        if not self.counts:
            return center - half, center + half
        half *= 1 + tuning_penalty(tuning, 1 - variance / self.at(0.0)[1], self.labels, self.data.rows)
        labels = math.floor(self.worth + 1e-6)
        passes = self.people * labels
        under = exact_margins(math.floor(passes + 1e-6), labels, self.level)[0]
        over = exact_margins(math.ceil(passes - 1e-6), labels, self.level)[1]
        return center - half - (1 - tuning) * under, center + half + (1 - tuning) * over

    def at(self, tuning: float) -> tuple[float, float]:
        """Return the centre of the interval, and the variance of the estimate, at this lambda."""
        scale, extra = self.kept * self.grown, self.pseudo
        influence = self.a + scale * self.a_own + tuning * (self.b + scale * self.b_own)
        groups = self.data.projects
        variance = float(influence @ influence) * groups / max(groups - 1, 1)
        apart = (1 - tuning) / 2 - (self.people - tuning * self.judge)
        if extra:
            # The distance between labels and pseudo-labels is no variance of either: Wilson's leaves it out too.
            variance += extra * (1 + tuning**2) / 4 / (self.worth + extra) ** 2
        return self.value(tuning) + (1 - self.kept) * apart, variance


def tuning_penalty(tuning: _N, gain: _N, labels: int, jobs: int) -> _N:
    """Return the share by which the interval of counts is widened, because lambda was chosen from the same labels.

    The penalty is 0 at a lambda of 0 or 1, and small if the judge removes most of the variance (`gain`), since the
    choice is then certain. In between, intervals without the penalty covered only 91 to 92 % with 20 labels, and at
    least 93 % with 30, for judges that pass nearly everything. Of the formulas tried, this one brings every coverage to
    93 % and leaves the fewest above 97 % (`python -m benchmarks.coverage worst`).
    """
    most = _CHOSEN * (LEAST / labels) ** 4 * (1 - labels / jobs)
    return 4 * most * tuning * (1 - tuning) * (1 - gain) ** 2


@lru_cache(maxsize=4096)
def exact_margins(passes: int, labels: int, level: float) -> tuple[float, float]:
    """Return how far an exact interval extends beyond Wilson's interval, below and above. The exact interval may miss
    1.4 times as often as its level says.

    Wilson's interval covers 95 % on average over all rates. With 20 labels it covers only 89 % at a rate of 0.028, and
    92 % at some other rates.
    """
    low, high = wilson(passes, labels, level)
    least, most = blaker(passes, labels, max(1 - _MISSED * (1 - level), level / 2))
    return max(0.0, low - least), max(0.0, most - high)


def _label_distances(data: CheckedSample, group: Ints, values: Floats) -> Floats:
    """Return each label's distance from the mean of the labels in its group; 0 for rows without a label.

    All labels have equal weight in the mean of the group. With unequal weights, a label that represents many rows would
    determine the mean almost alone. A mean of few labels lies close to each of them, so the distances are scaled up to
    their size around one mean of all labels.
    """
    many = np.maximum(np.bincount(group[data.has]), 1)
    mean = np.bincount(group, weights=values * data.has) / many
    grown = np.sqrt((1 - 1 / data.labels) / np.maximum(1 - 1 / many, 1 / data.labels))
    return np.asarray(grown[group] * (values - mean[group]) * data.has)


def _group_strata(stratum: Ints, labels: Ints) -> Ints:
    """Return the number of the group of each row, from 0. Strata are joined, those with the fewest labels first, until
    a group has `_GROUP` labels.

    Two or three labels hardly show the spread within their stratum. In a joined group, differences between its strata
    count as spread as well, so the interval becomes wider (collapsed strata, Cochran 1977, 5A.12).
    """
    group = np.zeros(len(labels), dtype=np.int64)
    last, held, left = 0, 0, int(labels.sum())
    for h in np.argsort(labels, kind="stable"):
        if held >= _GROUP and left >= _GROUP:
            last, held = last + 1, 0
        group[h] = last
        held, left = held + int(labels[h]), left - int(labels[h])
    return group[stratum]
