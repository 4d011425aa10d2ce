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
"""Degrees of freedom that scores lose in addition to those of their means."""
_MISSED = 1.4
"""Factor on the probability of a miss: a stated 95 % then keeps a coverage of at least 93 % for every rate."""
_CHOSEN = 0.14
"""Maximum share by which a chosen lambda widens an interval of 20 labels."""
_GROUP = 10
"""Number of labels that show a spread by themselves: around seven separate means of 20 labels, the spread would be a
third too small.
"""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A figure in three forms. Print `figure`; the others show its parts."""

    figure: Estimate
    """The corrected figure; with fewer than `least` labelled projects it has no value, and the reason says so."""
    labels: Estimate
    """The figure from people's labels alone, with an interval that holds for any number of them."""
    judge: Estimate
    """The figure from the judge alone: without an interval, since none would hold."""
    worth: Estimate
    """Ratio of effective sample sizes: variance without the judge over variance with it. 1.25 means that the labels are
    worth a quarter more. Measured on these data; other data may differ.
    """
    tuning: float | None
    """The weight lambda of the judge."""

    @property
    def best_figure(self) -> Estimate:
        """The corrected figure if there is one, else the labels' own."""
        return self.labels if self.figure.value is None else self.figure


def correct_by_labels(
    sample: Sample,
    kind: LabelKind = LabelKind.RATE,
    *,
    name: str = "corrected",
    least: int = LEAST,
    level: float = 0.95,
) -> Corrected:
    """Estimate the mean answer that people would give on all of this work, from a judge's answers on all of it and
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
    """Return why no figure is corrected; empty if one may be."""
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
    """The estimate and its variance as functions of lambda.

    `a` and `b` are each project's influence on the mean of people's labels, and on the difference of the judge's mean
    over all rows and over labelled ones: the influence on the estimate is a + lambda * b.
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
        """Lambda in 0..1 that minimises the variance, which is a parabola in it."""
        at = [self.at(x)[1] for x in (0.0, 0.5, 1.0)]
        curve, slope = 2 * (at[0] - 2 * at[1] + at[2]), -3 * at[0] + 4 * at[1] - at[2]
        if curve <= 1e-15:
            return 0.0
        best = min(max(-slope / (2 * curve), 0.0), 1.0)
        return 0.0 if best < 1e-9 else float(best)

    def judge_moments(self, tuning: float) -> tuple[float, float]:
        """Return (variance of the judge's mean over all rows, its covariance with the estimate), by project."""
        data = self.data
        groups = data.projects / max(data.projects - 1, 1)
        own = self._sum(data.judge - data.judge.mean())
        scale = self.kept * self.grown
        influence = self.a + scale * self.a_own + tuning * (self.b + scale * self.b_own)
        return float(own @ own) * groups, float(own @ influence) * groups

    def interval(self, tuning: float) -> tuple[float, float]:
        """Return the interval at this lambda.

        Scores: Wilson's form, for as many passes and fails as have this variance (Dean and Pagano 2015), since means of
        scores near 0 or 1 are skewed. Else the center plus and minus the quantile times the standard error.

        For counts the interval is as wide as an exact one if the judge adds nothing, and narrower the more it adds:
        with a judge of one constant answer the uncorrected form would cover 84 to 89 % (`python -m benchmarks.coverage
        worst`). A chosen lambda widens it (`tuning_penalty`).
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
        """Return (center of the interval, variance)."""
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
    """Return the share by which an interval of counts grows because lambda was chosen from the same labels.

    A lambda of 0 or 1 is no choice, and with a judge that removes most of the variance (`gain`) the choice is certain.
    Between them, judges that pass nearly everything were covered in only 91 to 92 % with 20 labels, and in at least 93
    % with 30; of the shapes tried, this one brings all to 93 % with the fewest others above 97 (`python -m
    benchmarks.coverage worst`).
    """
    most = _CHOSEN * (LEAST / labels) ** 4 * (1 - labels / jobs)
    return 4 * most * tuning * (1 - tuning) * (1 - gain) ** 2


@lru_cache(maxsize=4096)
def exact_margins(passes: int, labels: int, level: float) -> tuple[float, float]:
    """Return how far an exact interval extends beyond Wilson's on either side, if it may miss 1.4 times as often as
    stated.

    Wilson's covers 95 % on average over rates; with 20 labels it covers only 89 % at a rate of 0.028 and 92 % in
    between.
    """
    low, high = wilson(passes, labels, level)
    least, most = blaker(passes, labels, max(1 - _MISSED * (1 - level), level / 2))
    return max(0.0, low - least), max(0.0, most - high)


def _label_distances(data: CheckedSample, group: Ints, values: Floats) -> Floats:
    """Return each label's distance from the mean of its group's labels, and 0 for rows without a label.

    All labels have equal weight in that mean: with weights, a label that represents many rows would be its own mean. A
    mean of few labels lies close to them, so distances are scaled up to the size that they have around one mean of all
    labels.
    """
    many = np.maximum(np.bincount(group[data.has]), 1)
    mean = np.bincount(group, weights=values * data.has) / many
    grown = np.sqrt((1 - 1 / data.labels) / np.maximum(1 - 1 / many, 1 / data.labels))
    return np.asarray(grown[group] * (values - mean[group]) * data.has)


def _group_strata(stratum: Ints, labels: Ints) -> Ints:
    """Return the group of each row, from 0: strata are joined, fewest labels first, until a group has `_GROUP` labels.

    Two or three labels hardly show the spread within their stratum. In a group, differences between its strata count as
    spread too, which makes an interval wider (collapsed strata, Cochran 1977, 5A.12).
    """
    group = np.zeros(len(labels), dtype=np.int64)
    last, held, left = 0, 0, int(labels.sum())
    for h in np.argsort(labels, kind="stable"):
        if held >= _GROUP and left >= _GROUP:
            last, held = last + 1, 0
        group[h] = last
        held, left = held + int(labels[h]), left - int(labels[h])
    return group[stratum]
