"""The figure that people's labels give by themselves, with an interval that holds for any number of them."""

from __future__ import annotations

import numpy as np

from worksample.metrics.columns import Floats
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit, undefined
from worksample.metrics.uncertainty.intervals import exact

from .sample import Kind, Labelled


def label_counts(data: Labelled) -> Counts:
    """Planned are the rows, valid the labels; nobody was asked about the rest."""
    return Counts(data.rows, data.labels).having(
        projects_with_labels=data.labelled_projects,
        no_answer_of_the_judge=data.silent,
        labels_not_drawn_and_left_out=data.routed,
    )


def labels_only(data: Labelled, kind: Kind, name: str, level: float = 0.95) -> Estimate:
    """The mean of people's labels, strata weighted by their rows, with an exact interval.

    Clopper and Pearson's for passes with one label per project; else, for anything in 0..1, the bound of Chernoff and
    Hoeffding (1963, theorem 1) over project means. Over several strata each gets an interval of its own at
    1 - (1 - level) / strata, and their weighted ends are taken. Without a label there is no value, and the reason.
    """
    counts = label_counts(data)
    if not data.labels:
        return undefined(name, "people judged nothing of what was drawn", counts)
    rows, labels = data.per_stratum
    seen = np.flatnonzero(labels > 0)
    weight = rows[seen] / rows[seen].sum()
    each = 1 - (1 - level) / len(seen)
    parts = [_stratum(data, int(h), kind, each) for h in seen]
    value, low, high = (float(weight @ np.array([part[i] for part in parts])) for i in range(3))
    single = data.labelled_projects == data.labels and kind is Kind.RATE
    method = "exact (Clopper-Pearson)" if single else "exact (Chernoff-Hoeffding)"
    if len(seen) > 1:
        method += f", each of {len(seen)} strata at {each:.4g}"
    missing = f"strata with labels; none in {', '.join(data.empty)}" if data.empty else ""
    found = Estimate(name, value, counts, min(low, value), max(high, value), level, method, unit=Unit.SHARE)
    return found.given(missing)


def _stratum(data: Labelled, stratum: int, kind: Kind, level: float) -> tuple[float, float, float]:
    """(mean, low, high) within one stratum."""
    mine = data.has & (data.stratum == stratum)
    y, project = data.people[mine], data.project[mine]
    found, where = np.unique(project, return_inverse=True)
    if len(found) == len(y):
        if kind is Kind.RATE:
            return float(y.mean()), *exact(int(y.sum()), len(y), level)
        return float(y.mean()), *_bounded(float(y.mean()), len(y), level)
    sizes = np.bincount(where)
    # The mean over labels is a weighted one over projects: as many independent ones as their sizes are worth.
    worth = int(len(y) ** 2 // int((sizes**2).sum()))
    return float(y.mean()), *_bounded(float(y.mean()), max(worth, 1), level)


def _bounded(mean: float, units: int, level: float) -> tuple[float, float]:
    """All m with units * KL(mean, m) <= log(2 / (1 - level)): it covers whatever lies in 0..1."""
    limit = np.log(2 / (1 - level)) / units
    grid = np.linspace(0, 1, 4001)
    inside = _divergence(mean, grid) <= limit
    low, high = grid[inside][[0, -1]] if inside.any() else (mean, mean)
    step = float(grid[1])
    return max(0.0, float(low) - step), min(1.0, float(high) + step)


def _divergence(p: float, q: Floats) -> Floats:
    """Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = p * np.log(p / q) if p > 0 else np.zeros_like(q)
        other = (1 - p) * np.log((1 - p) / (1 - q)) if p < 1 else np.zeros_like(q)
    return np.asarray(one + other, dtype=np.float64)
