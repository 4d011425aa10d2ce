"""Hierarchy of trials: repeats belong to instances, and instances to tasks. Means are computed level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worksample.metrics.column_checks import Column, Floats, Ints, all_differ, codes, pair_codes, same_length


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The hierarchy of the rows (trials) of a table. `repeats` is the number of rows of each instance, and `instances`
    the number of instances of each task.

    If every instance has one row, row r is instance r, and `cell_` is None. If every task also has one instance,
    instance r is task r, and `of_` is None. Build a hierarchy with `hierarchy`, `independent` or `split_by_group`.
    """

    cell_: Ints | None
    repeats: Ints
    of_: Ints | None
    instances: Ints

    @property
    def cell(self) -> Ints:
        """The number of the instance of each row."""
        return np.arange(len(self.repeats)) if self.cell_ is None else self.cell_

    @property
    def of(self) -> Ints:
        """The number of the task of each instance."""
        return np.arange(self.tasks) if self.of_ is None else self.of_

    @property
    def rows(self) -> int:
        return len(self.repeats if self.cell_ is None else self.cell_)

    @property
    def tasks(self) -> int:
        return len(self.instances)

    @property
    def flat(self) -> bool:
        """True if every task has one instance and every instance one row. Trials are then independent."""
        return self.cell_ is None and self.of_ is None

    @property
    def single(self) -> bool:
        """True if every instance has one row. The chance variation within an instance is then unknown."""
        return self.cell_ is None

    @property
    def siblings(self) -> Ints:
        """The number of instances of the same task, for each instance, including the instance itself."""
        return self.instances if self.of_ is None else self.instances[self.of_]

    def split_by_group(self, group: Ints, size: int) -> tuple[Hierarchy, Ints]:
        """Return a hierarchy in which tasks and instances that span several groups are split by group, and the group of
        each task. The hierarchy is unchanged if no task spans several groups.

        `group` is the group of each row, a number below `size`.
        """
        if self.flat:
            return self, group
        parent = np.zeros(self.tasks, dtype=np.int64)
        if size == 1:
            return self, parent
        of = self.of if self.cell_ is None else self.of[self.cell_]
        parent[of] = group
        if (parent[of] == group).all():
            return self, parent
        cell, outer = None, group
        if self.cell_ is not None:
            cell, keys = pair_codes(group, self.cell_, (size, len(self.repeats)))
            outer, of = keys // len(self.repeats), self.of[keys % len(self.repeats)]
        task, keys = pair_codes(outer, of, (size, self.tasks))
        found = _form(cell, (task, len(keys)))
        return found, group if found.flat else keys // self.tasks

    def within(self, values: Floats) -> Floats:
        """Return the sum of `values` over the rows of each instance."""
        if self.single:
            return values
        return np.bincount(self.cell, weights=values, minlength=len(self.repeats)).astype(np.float64, copy=False)

    def across(self, values: Floats) -> Floats:
        """Return the sum of `values` over the instances of each task."""
        if self.of_ is None:
            return values
        return np.bincount(self.of, weights=values, minlength=self.tasks).astype(np.float64, copy=False)

    def instance_means(self, values: Floats) -> Floats:
        sums = self.within(values)
        return sums if self.single else sums / self.repeats

    def task_means(self, values: Floats) -> Floats:
        """Return the mean of each task: repeats are averaged into instances, and instances into tasks (ALE C.3.7)."""
        return self.across(self.instance_means(values)) / self.instances

    def mean(self, values: Floats) -> float:
        return float(self.task_means(values).mean())


def hierarchy(task: Column, instance: Column | None = None) -> Hierarchy:
    """Return the hierarchy of rows by task and, within a task, by instance. Rows of the same instance are repeats.

    Two tasks may use the same instance names.
    """
    same_length(task=task, instance=instance)
    tasks = codes("task", task)
    if instance is None:
        return _form(tasks.index, (np.arange(tasks.size), tasks.size))
    inner = codes("instance", instance)
    if inner.size == len(inner.index) or all_differ(tasks.index, inner.index, (tasks.size, inner.size)):
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
    """Build a hierarchy of at least one row. `cell` is the instance of each row, or None if each row is an instance of
    its own. `of` is the task of each instance and the number of tasks.
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


def independent(rows: int) -> Hierarchy:
    """Return a hierarchy in which every row is a separate task."""
    return Hierarchy(None, _ones(rows), None, _ones(rows))


def _ones(size: int) -> Ints:
    """Return a column of ones that takes no memory."""
    return np.broadcast_to(np.int64(1), size)
