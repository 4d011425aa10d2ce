"""Pass rates within k attempts for jobs whose failed attempts were repeated or given up as in reality.

The hazard of attempt k is the pass rate among the jobs that made attempt k. The formulas are from UpBench (D.3, 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Floats, Ints, codes, count_flags, flags, same_length, series, whole
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.shares_and_means import share
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling


@dataclass(frozen=True, slots=True)
class Histories:
    """Numbers of jobs by the outcome of their last attempt.

    `passed[k - 1]` is the number of jobs that passed at attempt k. `failed[k - 1]` is the number of jobs that failed
    attempt k and made no further attempt.
    """

    passed: Ints
    failed: Ints
    ungraded: int = 0
    """Number of jobs whose first attempt has no verdict."""
    tasks: int | None = None
    """Number of tasks to which the graded jobs belong. None means that each job is a task of its own."""

    @property
    def jobs(self) -> int:
        return int(self.passed.sum() + self.failed.sum())

    @property
    def attempts(self) -> int:
        return len(self.passed)

    @property
    def evidence_share(self) -> float:
        """Share of jobs that count as independent evidence: tasks divided by jobs.

        All jobs of a task are assumed to have the same outcome.
        """
        return 1.0 if self.tasks is None or not self.jobs else self.tasks / self.jobs

    def at_risk(self) -> Ints:
        """Return the number of jobs that made attempt k, for each k."""
        ended = self.passed + self.failed
        return np.asarray(self.jobs - np.concatenate([[0], np.cumsum(ended)[:-1]]), dtype=np.int64)

    def resample(self, how: Resampling) -> tuple[Floats, Floats]:
        """Resample the jobs with replacement and return the arrays `passed` and `failed`, each of shape (resamples,
        attempts).
        """
        cells = np.concatenate([self.passed, self.failed])
        drawn = how.rng().multinomial(self.jobs, cells / self.jobs, size=how.resamples).astype(np.float64)
        return drawn[:, : self.attempts], drawn[:, self.attempts :]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Figures of attempt k (from 1).

    `hazard` is the pass rate among the jobs that made attempt k. `observed` is the share of all jobs that passed at
    attempt k or earlier; it is a lower bound if failed jobs were not tried again. `within` estimates the share that
    would have passed if every failed job had been tried again and had passed as often as the jobs that were.
    """

    k: int
    hazard: Estimate
    observed: Estimate
    within: Estimate


def histories(job: Column, attempt: Column, passed: Column, task: Column | None = None) -> Histories:
    """Read histories from a table with one row per attempt.

    `attempt` counts 1, 2, ... without gaps within a job. `passed` is null if the attempt has no verdict; the job's
    chain then ends before that attempt. Jobs with the same `task` do not count as independent evidence. Raises
    UsageError if a job has a gap between attempts, two rows for one attempt, or an attempt after a pass.
    """
    same_length(job=job, attempt=attempt, passed=passed, task=task)
    jobs, step = codes("job", job), whole("attempt", attempt, low=1)
    yes, judged = flags("passed", passed)
    rows = np.lexsort((step, jobs.index))
    sizes = np.bincount(jobs.index, minlength=jobs.size)
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(rows)) - starts.repeat(sizes)
    name = jobs.labels
    if (wrong := step[rows] != place + 1).any():
        row = int(rows[np.flatnonzero(wrong)[0]])
        raise UsageError(
            f"{name[int(jobs.index[row])]}: attempt {step[row]} is a gap or a duplicate",
            where="column 'attempt'",
            next="number the attempts of each job 1, 2, 3, ...",
        )
    won = (yes & judged)[rows]
    last = np.zeros(len(rows), dtype=bool)
    last[(starts + sizes - 1)[sizes > 0]] = True
    if (wrong := won & ~last).any():
        row = int(rows[np.flatnonzero(wrong)[0]])
        raise UsageError(
            f"{name[int(jobs.index[row])]}: attempt {step[row]} passed, but another one follows",
            where="column 'passed'",
            next="leave out the attempts after the first pass of a job",
        )
    unjudged = ~judged[rows]
    many = int(step.max(initial=0))
    stop = np.where(unjudged, place, many)
    reached = np.minimum(np.minimum.reduceat(stop, starts), sizes) if len(rows) else np.zeros(0, dtype=np.int64)
    success = np.bincount(jobs.index[rows], weights=won & (place < reached.repeat(sizes)), minlength=jobs.size) > 0
    graded = reached > 0
    counted = partial(np.bincount, minlength=many)
    return Histories(
        passed=counted(reached[graded & success] - 1),
        failed=counted(reached[graded & ~success] - 1),
        ungraded=count_flags(~graded),
        tasks=None if task is None else codes("task", series("task", task).filter(pl.Series(graded[jobs.index]))).size,
    )


def passed_within(h: Histories, how: Resampling = DEFAULT) -> tuple[Attempt, ...]:
    """Return, for every attempt k that was made, the hazard, the observed share and the estimated share passed within k
    attempts.

    Intervals are exact. If failed jobs were not tried again, the interval of `within` uses the effective number of jobs
    from Greenwood's variance. Jobs of one task count together as one piece of evidence.
    """
    if not h.jobs:
        return ()
    risk = h.at_risk()
    value = _within(h.passed[None].astype(np.float64), h.failed[None].astype(np.float64))[0]
    out = []
    for i in range(h.attempts):
        if not risk[i]:
            break
        k, won = i + 1, int(h.passed[: i + 1].sum())
        stopped = int(h.failed[:i].sum())
        counts = Counts(h.jobs + h.ungraded, h.jobs, ungraded=h.ungraded).having(k=k, at_risk=int(risk[i]))
        lower = f"{stopped} failed jobs were not tried {k} times: a lower bound" if stopped else ""
        inside = Counts(int(risk[i]), int(risk[i])).having(k=k)
        observed = _share(f"passed by attempt {k}", won, counts, h.evidence_share, how)
        ends = Interval(observed.low, observed.high, observed.level, observed.method, observed.error)
        if stopped:
            ends = units.of_count(float(value[i]), _greenwood(h, i) * h.evidence_share, how.level)
        within = Estimate(f"passed within {k}", float(value[i]), counts, *ends, Unit.SHARE)
        given = "failed jobs without a re-attempt are assumed to pass as often as those with one" if stopped else ""
        out.append(
            Attempt(
                k,
                _share(f"hazard of attempt {k}", int(h.passed[i]), inside, h.evidence_share, how).conditional_on_more(
                    "failed all before" if i else ""
                ),
                observed.noting(lower),
                within.conditional_on_more("this policy of feedback", given),
            )
        )
    return tuple(out)


def _share(name: str, won: int, counts: Counts, apart: float, how: Resampling) -> Estimate:
    plain = share(name, won, counts, level=how.level)
    if apart == 1.0:
        return plain
    ends = units.of_count(won / counts.valid, max(1.0, counts.valid * apart), how.level)
    return replace(plain, **ends._asdict())


def _greenwood(h: Histories, last: int) -> float:
    """Return the effective number of jobs: the number of independent jobs whose pass rate has the variance of
    Greenwood's formula (1926).

    If no job is left after the last attempt, half a job is assumed to be left: ten passes of ten are hardly less
    certain than nine of ten.
    """
    risk, won = h.at_risk()[: last + 1].astype(np.float64), h.passed[: last + 1]
    left = np.maximum(risk - won, 0.5)
    failing = float((left / risk).prod())
    if failing >= 1:
        return float(h.jobs)
    return (1 - failing) / (failing * float(((risk - left) / (risk * left)).sum()))


def _within(passed: Floats, failed: Floats) -> Floats:
    """Return 1 - product of (1 - hazard) for each resample. An attempt that no job made has hazard 0."""
    ended = np.cumsum(passed + failed, axis=1)
    risk = ended[:, -1:] - ended + passed + failed
    hazard = np.divide(passed, risk, out=np.zeros_like(passed), where=risk > 0)
    return np.asarray(1 - np.cumprod(1 - hazard, axis=1))


def attempts_frame(attempts: tuple[Attempt, ...]) -> pl.DataFrame:
    """Return the figures of `passed_within` as a table with the columns k, at_risk, hazard, observed, within and the
    two ends of the interval of within.
    """
    return pl.DataFrame(
        [
            {
                "k": a.k,
                "at_risk": a.hazard.counts.valid,
                "hazard": a.hazard.value,
                "observed": a.observed.value,
                "within": a.within.value,
                "low": a.within.low,
                "high": a.within.high,
            }
            for a in attempts
        ]
    )
