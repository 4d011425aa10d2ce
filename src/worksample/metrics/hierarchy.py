"""Trials within instances within tasks: level means, and the bootstrap that resamples all three levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .bootstrap import Resampling
from .columns import Column, Floats, Ints, codes, pair_codes, same_length

_DRAWS = 5_000_000
"""Up to this many drawn trials the bootstrap is simulated; beyond, its own variance in closed form is used."""
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """`cell`: the instance of each row; `repeats`: rows per instance; `instances`: instances per task. Instances of
    one task stand together: task t owns first[t] .. first[t] + instances[t] - 1.
    """

    cell: Ints
    repeats: Ints
    instances: Ints
    first: Ints

    @property
    def tasks(self) -> int:
        return len(self.instances)

    @property
    def flat(self) -> bool:
        """Whether every task has one instance with one repeat: then trials are independent."""
        return len(self.cell) == self.tasks

    def task_of(self) -> Ints:
        """The task of each instance."""
        return np.arange(self.tasks).repeat(self.instances)

    def within(self, values: Floats) -> Floats:
        """Sums over the rows of each instance."""
        return np.bincount(self.cell, weights=values, minlength=len(self.repeats)).astype(np.float64)

    def across(self, values: Floats) -> Floats:
        """Sums over the instances of each task."""
        if len(self.repeats) == self.tasks:
            return values
        return np.asarray(np.add.reduceat(values, self.first))

    def instance_means(self, values: Floats) -> Floats:
        return self.within(values) / self.repeats

    def task_means(self, values: Floats) -> Floats:
        """Repeats average into instances, instances into tasks (ALE C.3.7)."""
        return self.across(self.instance_means(values)) / self.instances

    def mean(self, values: Floats) -> float:
        return float(self.task_means(values).mean())


def hierarchy(task: Column, instance: Column | None = None) -> Hierarchy:
    """The structure of rows by task and, within a task, by instance; rows of one instance are its repeats.

    Instance names need not differ between tasks.
    """
    same_length(task=task, instance=instance)
    tasks = codes("task", task)
    if instance is None:
        repeats = np.bincount(tasks.index, minlength=tasks.size).astype(np.int64)
        return Hierarchy(tasks.index, repeats, np.ones(tasks.size, dtype=np.int64), np.arange(tasks.size))
    inner = codes("instance", instance)
    parent = np.zeros(inner.size, dtype=np.int64)
    parent[inner.index] = tasks.index
    if (parent[inner.index] == tasks.index).all():
        order = np.argsort(parent, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        cell, of = rank[inner.index], parent
    else:
        cell, keys = pair_codes(tasks.index, inner.index, (tasks.size, inner.size))
        of = keys // inner.size
    repeats = np.bincount(cell, minlength=len(of)).astype(np.int64)
    instances = np.bincount(of, minlength=tasks.size).astype(np.int64)
    return Hierarchy(cell, repeats, instances, _starts(instances))


def independent(rows: int) -> Hierarchy:
    """Every row a task of its own."""
    ones = np.ones(rows, dtype=np.int64)
    return Hierarchy(np.arange(rows), ones, ones, np.arange(rows))


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if len(sizes) else sizes


def bootstrap_variance(h: Hierarchy, values: Floats) -> float:
    """The exact variance of `replicates`' distribution: between tasks, instances within a task, repeats within one."""
    means = h.instance_means(values)
    task_means = h.across(means) / h.instances
    between = float(task_means.var())
    if h.flat:
        return between / h.tasks
    noise = np.maximum(h.within(values**2) / h.repeats - means**2, 0.0) / h.repeats
    spread = np.maximum(h.across(means**2) / h.instances - task_means**2, 0.0)
    inner = (spread + h.across(noise) / h.instances) / h.instances
    return (between + float(inner.mean())) / h.tasks


def replicates(h: Hierarchy, values: Floats, how: Resampling) -> Floats | None:
    """The mean over tasks in every resample; None where simulating would take too long (see `bootstrap_variance`).

    Tasks are drawn with replacement, for each draw as many instances of the task as it has, for each of those as many
    repeats as it has. One draw of a task is independent of another draw of the same task.
    """
    if len(h.cell) * how.resamples > _DRAWS:
        return None
    rng = how.rng()
    ordered, starts = values[np.argsort(h.cell, kind="stable")], _starts(h.repeats)
    tasks = h.tasks
    out = []
    for rows in _blocks(how.resamples, len(h.cell)):
        task = rng.integers(0, tasks, size=rows * tasks)
        if h.flat:
            out.append(ordered[task].reshape(rows, tasks).mean(axis=1))
            continue
        many = h.instances[task]
        instance = h.first[task].repeat(many) + _below(rng, many)
        drawn = h.repeats[instance]
        trial = starts[instance].repeat(drawn) + _below(rng, drawn)
        means = np.add.reduceat(ordered[trial], _starts(drawn)) / drawn
        task_means = np.add.reduceat(means, _starts(many)) / many
        out.append(task_means.reshape(rows, tasks).mean(axis=1))
    return np.concatenate(out)


def _below(rng: np.random.Generator, sizes: Ints) -> Ints:
    """For each size n, n uniform draws from 0 .. n - 1, in one flat array."""
    bounds = sizes.repeat(sizes)
    return np.minimum((rng.random(len(bounds)) * bounds).astype(np.int64), bounds - 1)


def _blocks(resamples: int, size: int) -> Iterator[int]:
    step = max(1, _CHUNK // max(size, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)
