"""Similarity of jobs by text and category: how much the outcome of one job says about another job.

The weights of text and category are learned from the suite. They depend on how often similar jobs had the same outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from worksample.reports.clusters.cluster_labels import words_of

Floats = NDArray[np.float64]
_SHARP = (0.0, 2.0, 6.0, 18.0)
_OTHER = (1.0, 0.4, 0.15, 0.03)
_NEIGHBOURS = 10
"""Rank of the neighbour whose distance is used as the unit for distances."""
_STRANGE = 0.99
_LEAST_UNIT, _LEAST_STRANGE = 0.5, 0.75
"""Minimum unit of distances, and minimum distance at which a text counts as unlike all others. The minimums matter for
suites of nearly equal texts, in which all other texts would look unlike.
"""
_CLOSE = 0.5
"""Number of standard errors by which a rule may predict worse than the best rule and still be preferred, if it gives
less weight to other categories.
"""

_FREE = 1.5
"""Difference of log losses in nats, over all jobs together, below which no rule counts as better than another."""


@dataclass(frozen=True, slots=True)
class SimilarityRule:
    """A learned rule for the weights of jobs. `sharp` says how fast a job's weight falls with the distance of its text.
    `other` is the factor for a job of another category.
    """

    sharp: float
    other: float
    unit: float
    strange: float
    """Distance to the nearest known job beyond which a job may be unlike all known jobs."""

    def weights(self, distance: Floats, same: NDArray[np.bool_]) -> Floats:
        """Return the weight of each known job for each listed job, in 0..1, with a row per listed job and a column per
        known job.
        """
        far = np.maximum(0.0, distance / self.unit - 1)
        return np.exp(-self.sharp * far) * np.where(same, 1.0, self.other)


def distances(one: Floats, two: Floats) -> Floats:
    """Return the cosine distances (1 minus the cosine) between vectors of length 1."""
    return np.asarray(np.clip(1 - one @ two.T, 0, 2))


def same_category(one: Sequence[str], two: Sequence[str]) -> NDArray[np.bool_]:
    """Return, for each pair of categories, whether one equals the other or is below the other. Jobs without a category
    count as the same category.
    """

    def alike(a: str, b: str) -> bool:
        return a == b or (bool(a) and bool(b) and (a.startswith(f"{b}/") or b.startswith(f"{a}/")))

    names, others = sorted(set(one)), sorted(set(two))
    table = np.array([[alike(a, b) for b in others] for a in names]).reshape(len(names), len(others))
    rows, columns = [names.index(a) for a in one], [others.index(b) for b in two]
    return np.asarray(table[np.ix_(rows, columns)])


def has_unknown_words(text: str, known: Collection[str]) -> bool:
    """Return whether most words of a text are not in `known`."""
    words = set(words_of(text))
    return sum(word not in known for word in words) * 2 > len(words)


def learn_rule(distance: Floats, same: NDArray[np.bool_], passed: Floats) -> SimilarityRule:
    """Return the rule by which known jobs predict each other best. Each job is predicted from the others.

    If several rules predict about equally well, the rule with the least weight for other categories is chosen, because
    it claims least. Of these, the rule that depends least on texts is chosen, because texts say less than categories
    and change with every word.
    """
    size = len(passed)
    near = np.sort(distance + np.where(np.eye(size, dtype=bool), np.inf, 0.0), axis=1)
    place = min(_NEIGHBOURS, size - 1) - 1
    unit = max(float(np.median(near[:, place])), _LEAST_UNIT) if size > 1 else 1.0
    strange = max(float(np.quantile(near[:, 0], _STRANGE)), _LEAST_STRANGE) if size > 1 else 2.0
    rules = [SimilarityRule(sharp, other, unit, strange) for sharp, other in product(_SHARP, _OTHER)]
    if size < 2:
        return rules[-1]
    losses = [_left_out(rule, distance, same, passed) for rule in rules]
    best = min(losses, key=lambda loss: float(loss.mean()))
    apart = [loss - best for loss in losses]
    slack = [max(_CLOSE * float(a.std()) * np.sqrt(size), _FREE) for a in apart]
    good = [r for r, a, most in zip(rules, apart, slack, strict=True) if a.sum() <= most]
    return min(good, key=lambda rule: (rule.other, rule.sharp))


def _left_out(rule: SimilarityRule, distance: Floats, same: NDArray[np.bool_], passed: Floats) -> Floats:
    """Return the log loss of each job's verdict, predicted from all other jobs."""
    weight = rule.weights(distance, same)
    np.fill_diagonal(weight, 0.0)
    total = weight.sum(axis=1)
    told = (weight @ passed + passed.mean()) / (total + 1)
    told = told.clip(0.01, 0.99)
    return np.asarray(-passed * np.log(told) - (1 - passed) * np.log(1 - told))
