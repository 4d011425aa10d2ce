"""Basis of power calculations: a guessed pass rate, or the results of an earlier experiment (a pilot)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics import TrialColumns, Variances, planned_variances, variance_components
from worksample.records import Experiment
from worksample.results.result_set import ResultSet, state_of
from worksample.store import Store

RATE = 0.25
"""Guessed pass rate of an agent, if no pilot is given. The variance of pass or fail would be greatest at 0.5."""
SHARED = 0.5
"""Guessed correlation between two agents' difficulties with the same tasks. Used if the pilot had only one agent."""
FEWEST = 5
"""Minimum number of graded tasks from which a pilot's variances are estimated."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Variances of pass or fail, and a text that says how the variances were found."""

    variances: Variances
    assumed: str


def guessed_basis(rate: float = RATE) -> Basis:
    """Return a basis with a guessed pass rate. It attributes half of the variance to differences between tasks. Raises
    UsageError if the rate is not between 0 and 1.
    """
    assumed = (
        f"the first agent passes {100 * rate:.3g}%, the second more or less often; half of the variance lies between"
        " tasks, half of the difficulty is shared"
    )
    return Basis(planned_variances(rate), assumed)


def from_pilot(store: Store, experiment: Experiment) -> Basis:
    """Estimate a basis from an experiment's graded trials, by the method of moments.

    The variances are the mean of the agents' variances. The basis also has the correlation of task difficulties between
    agents. Without repeats, chance and task difficulty cannot be separated, and each gets half of the variance. Raises
    UsageError if fewer than `FEWEST` tasks are graded, or if all trials of every agent had the same result.
    """
    work = ResultSet(store, [experiment])
    frame = work.judged_frame(work.primary)
    if frame is None:
        raise UsageError(f"no trial of {experiment.name} is graded yet", next=f"worksample resume {experiment.name}")
    frame = frame.filter(pl.col("attempt") == 1).with_columns(state=state_of("passed"))
    graded = frame.filter(pl.col("state") == "valid").with_columns(credit=pl.col("passed").cast(pl.Float64))
    return basis_of(graded, experiment.name)


def basis_of(graded: pl.DataFrame, name: str) -> Basis:
    """Estimate a basis from a table of graded trials. Its columns are `who`, `task`, `instance_name`, `key` (task and
    instance) and `credit` (0 or 1).
    """
    tasks = graded["task"].n_unique()
    if tasks < FEWEST:
        said = f"{name} has {tasks} graded tasks, too few to compute power from: {FEWEST} are needed"
        raise UsageError(said, next="leave out --pilot, and assume a rate with --expect 0.25")
    found = [_components(rows) for rows in graded.partition_by("who", maintain_order=True)]
    each = [v for v in found if v is not None]
    if not each:
        said = f"all trials of {name} had the same result, so variances cannot be estimated"
        raise UsageError(said, next="leave out --pilot, and assume a rate with --expect 0.25")
    parts = ("task", "instance", "repeat")
    task, instance, repeat = (float(np.mean([getattr(v, part) for v in each])) for part in parts)
    repeats = graded.select("who", "key").is_duplicated().any()
    if not repeats:
        task = repeat = (task + repeat) / 2
    shared = _shared_difficulty(graded, task)
    rate = 100 * float(graded["credit"].to_numpy().mean())
    said = f"{name}'s own {len(graded):,} graded trials on {tasks} tasks, {rate:.3g}% passed"
    said += "" if repeats else "; without repeats, half of the variance between tasks"
    said += "; half of the difficulty shared" if shared is None else f"; difficulty shared to {100 * shared:.0f}%"
    return Basis(Variances(task, instance, repeat, SHARED if shared is None else shared), said)


def _components(rows: pl.DataFrame) -> Variances | None:
    """Return the variance components of one agent's results. Return None if the agent has too few tasks, or if all its
    results are equal.
    """
    if rows["task"].n_unique() < 2:
        return None
    found, share = variance_components(TrialColumns(rows["credit"], rows["task"], rows["instance_name"]))
    return None if share.value is None else found


def _shared_difficulty(graded: pl.DataFrame, variance: float) -> float | None:
    """Return the covariance of two agents' mean results per task, divided by `variance`, the variance between tasks.
    Return None if there is only one agent.
    """
    means = graded.group_by("task", "who").agg(pl.col("credit").mean())
    wide = means.pivot("who", index="task", values="credit").drop("task")
    pairs = [wide.select(one, two).drop_nulls() for one, two in combinations(wide.columns, 2)]
    known = [pair.to_numpy() for pair in pairs if len(pair) >= FEWEST]
    if not known or variance <= 0:
        return None
    mean = float(np.mean([np.cov(pair, rowvar=False)[0, 1] for pair in known]))
    return min(1.0, max(0.0, mean / variance))
