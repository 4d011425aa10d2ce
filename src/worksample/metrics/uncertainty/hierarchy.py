"""Trials within instances within tasks: level means, and the bootstrap that resamples all three levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from worksample.metrics.columns import Column, Flags, Floats, Ints, codes, pair_codes, same_length

from .bootstrap import Resampling

_DRAWS = 5_000_000
"""Up to this many drawn trials the bootstrap is simulated; beyond, its own variance in closed form is used."""
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """`repeats`: rows per instance; `instances`: instances per task. Where every instance was run once, row r is
    instance r (`cell_` is None), and where every task stands once it is task r too (`of_` is None): make one with
    `hierarchy`, `independent` or `where`.
    """

    cell_: Ints | None
    repeats: Ints
    of_: Ints | None
    instances: Ints

    @property
    def cell(self) -> Ints:
        """The instance of each row."""
        return np.arange(len(self.repeats)) if self.cell_ is None else self.cell_

    @property
    def of(self) -> Ints:
        """The task of each instance."""
        return np.arange(self.tasks) if self.of_ is None else self.of_

    @property
    def rows(self) -> int:
        return len(self.repeats if self.cell_ is None else self.cell_)

    @property
    def tasks(self) -> int:
        return len(self.instances)

    @property
    def flat(self) -> bool:
        """Whether every task has one instance with one repeat: then trials are independent."""
        return self.cell_ is None and self.of_ is None

    @property
    def single(self) -> bool:
        """Whether every instance was run once: then nothing is known of chance within one."""
        return self.cell_ is None

    def where(self, rows: Flags) -> Hierarchy:
        """The structure of these rows alone."""
        if self.of_ is None and self.cell_ is None:
            return independent(int(rows.sum()))
        if self.cell_ is None:
            return _form(None, _renumbered(self.of[rows], self.tasks))
        cell, cells = _renumbered(self.cell[rows], len(self.repeats))
        of = np.zeros(cells, dtype=np.int64)
        of[cell] = self.of[self.cell[rows]]
        return _form(cell, _renumbered(of, self.tasks))

    def within(self, values: Floats) -> Floats:
        """Sums over the rows of each instance."""
        if self.single:
            return values
        return np.bincount(self.cell, weights=values, minlength=len(self.repeats)).astype(np.float64, copy=False)

    def across(self, values: Floats) -> Floats:
        """Sums over the instances of each task."""
        if self.of_ is None:
            return values
        return np.bincount(self.of, weights=values, minlength=self.tasks).astype(np.float64, copy=False)

    def instance_means(self, values: Floats) -> Floats:
        sums = self.within(values)
        return sums if self.single else sums / self.repeats

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
        return _form(tasks.index, (np.arange(tasks.size), tasks.size))
    inner = codes("instance", instance)
    if inner.size == len(inner.index):
        return _form(None, (tasks.index, tasks.size))
    parent = np.zeros(inner.size, dtype=np.int64)
    parent[inner.index] = tasks.index
    if (parent[inner.index] == tasks.index).all():
        cell, of = inner.index, parent
    else:
        cell, keys = pair_codes(tasks.index, inner.index, (tasks.size, inner.size))
        of = keys // inner.size
    return _form(cell, (of, tasks.size))


def _form(cell: Ints | None, of: tuple[Ints, int]) -> Hierarchy:
    """From the instance of each row (None: its own), the task of each instance and the number of tasks; none of them
    is empty.
    """
    task, tasks = of
    cells = len(task)
    rows = cells if cell is None else len(cell)
    if rows == tasks:
        return independent(rows)
    instances = np.bincount(task, minlength=tasks)
    if cell is None or rows == cells:
        # What is next to each other in memory is read several times as fast: the instances go where the rows are.
        return Hierarchy(None, _ones(rows), task if cell is None else task[cell], instances)
    return Hierarchy(cell, np.bincount(cell, minlength=cells), task, instances)


def _renumbered(index: Ints, size: int) -> tuple[Ints, int]:
    """The numbers that occur, counted anew from 0, and how many they are."""
    seen = np.zeros(size, dtype=bool)
    seen[index] = True
    if seen.all():
        return index, size
    return (np.cumsum(seen) - 1)[index], int(seen.sum())


def independent(rows: int) -> Hierarchy:
    """Every row a task of its own."""
    return Hierarchy(None, _ones(rows), None, _ones(rows))


def _ones(size: int) -> Ints:
    """A column of ones that takes no memory."""
    return np.broadcast_to(np.int64(1), size)


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if len(sizes) else sizes


@dataclass(frozen=True, slots=True)
class TaskMeans:
    """Per task its mean, and the variance that resampling within it gives that mean."""

    mean: Floats
    inner: Floats

    @property
    def value(self) -> float:
        return float(self.mean.mean())

    @property
    def variance(self) -> float:
        """Of the mean over tasks in `replicates`, exactly: between tasks, between instances, between repeats."""
        return float(self.mean.var() + self.inner.mean()) / len(self.mean)


def summarise(h: Hierarchy, values: Floats) -> TaskMeans:
    """Everything that a mean over tasks, and its bootstrap variance in closed form, need of millions of rows."""
    means = h.instance_means(values)
    if h.flat:
        return TaskMeans(means, np.broadcast_to(np.float64(0), h.tasks))
    task_means = h.across(means) / h.instances
    inner = np.maximum(h.across(means**2) / h.instances - task_means**2, 0.0)
    if not h.single:
        noise = np.maximum(h.within(values**2) / h.repeats - means**2, 0.0) / h.repeats
        inner += h.across(noise) / h.instances
    return TaskMeans(task_means, inner / h.instances)


def replicates(h: Hierarchy, values: Floats, how: Resampling) -> Floats | None:
    """The mean over tasks in every resample; None where simulating would take too long: see `TaskMeans.variance`.

    Tasks are drawn with replacement, for each draw as many instances of the task as it has, for each of those as many
    repeats as it has. One draw of a task is independent of another draw of the same task.
    """
    if h.rows * how.resamples > _DRAWS:
        return None
    rng = how.rng()
    ordered, starts = values[np.argsort(h.cell, kind="stable")], _starts(h.repeats)
    tasks, first, members = h.tasks, _starts(h.instances), np.argsort(h.of, kind="stable")
    out = []
    for rows in _blocks(how.resamples, h.rows):
        task = rng.integers(0, tasks, size=rows * tasks)
        if h.flat:
            out.append(ordered[task].reshape(rows, tasks).mean(axis=1))
            continue
        many = h.instances[task]
        instance = members[first[task].repeat(many) + _below(rng, many)]
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
