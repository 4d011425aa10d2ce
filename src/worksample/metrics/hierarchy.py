"""Trials within instances within tasks: level means, and the bootstrap that resamples all three levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .bootstrap import Resampling
from .columns import Codes, Column, Floats, Ints, codes, pair_codes, same_length

_DRAWS = 20_000_000
"""Up to this many drawn trials the bootstrap is simulated; beyond, its own variance in closed form is used."""
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Rows sorted by task and instance. `rows` are positions in the caller's columns; instance i owns
    rows[starts[i] : starts[i] + repeats[i]], task t owns instances first[t] .. first[t] + instances[t] - 1.
    """

    rows: Ints
    starts: Ints
    repeats: Ints
    first: Ints
    instances: Ints
    tasks: Codes

    @property
    def flat(self) -> bool:
        """Whether every task has one instance with one repeat: then trials are independent."""
        return len(self.rows) == len(self.first)

    def instance_means(self, values: Floats) -> Floats:
        return np.add.reduceat(values[self.rows], self.starts) / self.repeats

    def task_means(self, values: Floats) -> Floats:
        """Repeats average into instances, instances into tasks (ALE C.3.7)."""
        return np.add.reduceat(self.instance_means(values), self.first) / self.instances

    def mean(self, values: Floats) -> float:
        return float(self.task_means(values).mean())


def hierarchy(task: Column, instance: Column | None = None) -> Hierarchy:
    """The structure of rows by task and, within a task, by instance; rows of one instance are its repeats."""
    same_length(task=task, instance=instance)
    tasks = codes("task", task)
    inner = codes("instance", instance) if instance is not None else tasks
    cell, keys = pair_codes(tasks.index, inner.index, (tasks.size, inner.size))
    rows = np.argsort(cell, kind="stable").astype(np.int64)
    repeats = np.bincount(cell, minlength=len(keys)).astype(np.int64)
    instances = np.bincount(keys // max(inner.size, 1), minlength=tasks.size).astype(np.int64)
    return Hierarchy(rows, _starts(repeats), repeats, _starts(instances), instances, tasks)


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if len(sizes) else sizes


def bootstrap_variance(h: Hierarchy, values: Floats) -> float:
    """The exact variance of `replicates`' distribution: between tasks, instances within a task, repeats within one."""
    tasks = len(h.first)
    means, task_means = h.instance_means(values), h.task_means(values)
    within = np.add.reduceat(values[h.rows] ** 2, h.starts) / h.repeats - means**2
    noise = np.maximum(within, 0.0) / h.repeats
    spread = np.add.reduceat(means**2, h.first) / h.instances - task_means**2
    inner = (np.maximum(spread, 0.0) + np.add.reduceat(noise, h.first) / h.instances) / h.instances
    return float((task_means.var() + inner.mean()) / tasks)


def replicates(h: Hierarchy, values: Floats, how: Resampling) -> Floats | None:
    """The mean over tasks in every resample; None where simulating would take too long (see `bootstrap_variance`).

    Tasks are drawn with replacement, for each draw as many instances of the task as it has, for each of those as many
    repeats as it has. One draw of a task is independent of another draw of the same task.
    """
    if len(h.rows) * how.resamples > _DRAWS:
        return None
    rng = how.rng()
    ordered = values[h.rows]
    tasks = len(h.first)
    out = []
    for rows in _blocks(how.resamples, len(h.rows)):
        task = rng.integers(0, tasks, size=rows * tasks)
        if h.flat:
            out.append(ordered[task].reshape(rows, tasks).mean(axis=1))
            continue
        many = h.instances[task]
        instance = h.first[task].repeat(many) + _below(rng, many)
        drawn = h.repeats[instance]
        trial = h.starts[instance].repeat(drawn) + _below(rng, drawn)
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
