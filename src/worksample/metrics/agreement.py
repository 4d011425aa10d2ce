"""How far evaluators agree (RLI 3.4, B.2): shares of agreeing and of opposed pairs, alpha, AC1, and on positives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from worksample.errors import UsageError

from . import coincidence
from .bootstrap import DEFAULT, Resampled, Resampling, of_patterns, resampled
from .columns import Codes, Column, Flags, Floats, Ints, codes, floats, same_length, series
from .counts import Counts
from .estimate import Estimate, Unit
from .votes import THREE_VOTES, VoteProtocol, first_votes, refuse_doubles, vote_patterns

_MOST = 64


@dataclass(frozen=True, slots=True)
class Scale:
    """What votes mean: from `positive` up they are positive; the two `ends` on one item are a hard disagreement."""

    positive: float
    ends: tuple[float, float]


HOLISTIC = Scale(positive=2, ends=(1, 3))
"""Votes of 1, 2, 3 (RLI 3.4)."""
PREFERENCE = Scale(positive=1, ends=(0, 1))
"""Preferences of 0, 0.5, 1: AD-2, tie, AD-1."""
PASS_FAIL = Scale(positive=1, ends=(0, 1))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of votes on the same items. Where few pass, a high share is cheap: read alpha and AC1 beside it."""

    share: Estimate
    """Of unordered pairs of votes on one item, those that are equal."""
    hard: Estimate
    """Of those pairs, the ones that hold the two ends of the scale (AD-1 against AD-2)."""
    positive: Estimate
    """Given a positive vote, the share of other votes on its item that are positive too."""
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    alpha_interval: Estimate
    ac1: Estimate

    def all(self) -> tuple[Estimate, ...]:
        alphas = (self.alpha_nominal, self.alpha_ordinal, self.alpha_interval)
        return (self.share, self.hard, self.positive, *alphas, self.ac1)


@dataclass(frozen=True, slots=True)
class Ballots:
    """Votes, one row each. `vote`: numbers on an ordered scale, null where none was given. `evaluator` guards against
    doubles, `project` says which items are resampled together, `order` (a time or a number) which vote came first.
    """

    subject: Column
    vote: Column
    evaluator: Column | None = None
    project: Column | None = None
    order: Column | None = None


def measure_agreement(
    ballots: Ballots, scale: Scale = HOLISTIC, protocol: VoteProtocol = THREE_VOTES, how: Resampling = DEFAULT
) -> Agreement:
    """Agreement between the votes on the same items.

    Under a protocol with a tie-break only the first two votes of an item count, since a third is asked for exactly
    where those disagree: then `order` is required. Intervals resample projects, or items where none are given.
    Errors: UsageError for two votes of one evaluator on one item, for a missing `order`, for over 64 distinct votes.
    """
    rows, beyond, declined = _given(ballots, protocol)
    subjects = codes("subject", rows["subject"])
    if ballots.evaluator is not None:
        everyone = np.ones(len(rows), dtype=bool)
        refuse_doubles(subjects, codes("evaluator", rows["evaluator"]), everyone)
    if beyond.any():
        rows, subjects = rows.filter(pl.Series(~beyond)), Codes(subjects.index[~beyond], subjects.labels)
    steps, place = _steps(rows["vote"].to_numpy())
    table, which = vote_patterns(subjects.index, place, subjects.size, len(steps))
    cluster = _clusters(subjects, codes("project", rows["project"])) if ballots.project is not None else None
    votes, times = table.sum(axis=1), np.bincount(which, minlength=len(table))
    paired = int(times[votes >= 2].sum())
    counts = Counts(subjects.size, paired, ungraded=subjects.size - paired).having(
        votes=len(rows), items_with_one_vote=int(times[votes == 1].sum()),
        tie_breaking_votes_left_out=int(beyond.sum()), declined_or_failed=declined,
    )  # fmt: skip
    return _measure((table, which), steps, cluster, counts, scale, how)


def _given(ballots: Ballots, protocol: VoteProtocol) -> tuple[pl.DataFrame, Flags, int]:
    """The rows with a vote, which of them come after the protocol's independent ones, and how many had none."""
    columns = {name: getattr(ballots, name) for name in ("subject", "evaluator", "project", "order")}
    columns = {name: column for name, column in columns.items() if column is not None}
    same_length(vote=ballots.vote, **columns)
    values, present = floats("vote", ballots.vote)
    rows = pl.DataFrame([series(name, column).alias(name) for name, column in columns.items()])
    rows = rows.with_columns(vote=values)
    if not present.all():
        rows = rows.filter(pl.Series(present))
    beyond = np.zeros(len(rows), dtype=bool)
    if protocol.independent < protocol.planned and len(rows):
        most = int(np.bincount(codes("subject", rows["subject"]).index).max())
        if most > protocol.independent:
            if ballots.order is None:
                raise UsageError(
                    f"which votes of {protocol.name!r} came first is not known",
                    where="column 'order'",
                    next="pass order, such as the time of each vote: the tie-break must not count",
                )
            beyond = ~first_votes(rows["subject"], rows["order"], protocol).to_numpy()
    return rows, beyond, int((~present).sum())


def _steps(values: Floats) -> tuple[Floats, Ints]:
    """The scale's steps in use (at least one, for empty tables) and each vote's place on it."""
    if len(values) and np.ptp(values) < _MOST and (values == np.floor(values)).all():
        found = codes("vote", values.astype(np.int64))
        return found.labels.to_numpy().astype(np.float64), found.index
    steps = np.asarray(pl.Series(values).unique().sort().to_numpy(), dtype=np.float64)
    if len(steps) > _MOST:
        raise UsageError(
            f"{len(steps)} different votes", where="column 'vote'", next=f"use a scale of at most {_MOST} steps"
        )
    if not len(steps):
        return np.zeros(1), np.zeros(0, dtype=np.int64)
    return steps, np.searchsorted(steps, values)


def _clusters(subjects: Codes, projects: Codes) -> Codes:
    of = np.zeros(subjects.size, dtype=np.int64)
    of[subjects.index] = projects.index
    return Codes(of, projects.labels)


def _measure(
    patterns: tuple[Ints, Ints], steps: Floats, cluster: Codes | None, counts: Counts, scale: Scale, how: Resampling
) -> Agreement:
    table, which = patterns
    ends = tuple(int(np.flatnonzero(steps == end)[0]) for end in scale.ends if end in steps)
    per_pattern = coincidence.item_sums(table.astype(np.float64), (ends[0], ends[1]) if len(ends) == 2 else None)
    times = np.bincount(which, minlength=len(table))
    total = times[None, :] @ per_pattern
    drawn, units = _drawn(per_pattern, which, times, cluster, how)

    def figure(name: str, statistic: Callable[[Floats], Floats], why: str = "", unit: Unit = Unit.NUMBER) -> Estimate:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(statistic(total)[0]) if counts.valid else float("nan")
        if np.isnan(value):
            return Estimate(name, None, counts, unit=unit, reason=why if counts.valid else "no item has two votes")
        note = "" if len(drawn.sums) else f"a single one of {units}: no interval"
        return Estimate(name, value, counts, *drawn.interval(statistic), unit).noting(note)

    flat = "all votes are the same, so chance agrees as well"
    yes = steps >= scale.positive
    return Agreement(
        share=figure("agreement", coincidence.share, unit=Unit.SHARE),
        hard=figure("hard disagreement", coincidence.hard, unit=Unit.SHARE),
        positive=figure(
            "agreement on positives", lambda s: coincidence.positive(s, yes), "no positive vote", Unit.SHARE
        ),
        alpha_nominal=figure("alpha (nominal)", lambda s: coincidence.alpha(s, steps, "nominal"), flat),
        alpha_ordinal=figure("alpha (ordinal)", lambda s: coincidence.alpha(s, steps, "ordinal"), flat),
        alpha_interval=figure("alpha (interval)", lambda s: coincidence.alpha(s, steps, "interval"), flat),
        ac1=figure("AC1", lambda s: coincidence.ac1(s, len(steps)), flat),
    )


def _drawn(
    per_pattern: Floats, which: Ints, times: Ints, cluster: Codes | None, how: Resampling
) -> tuple[Resampled, str]:
    if len(which) < 2:
        return Resampled(per_pattern[:0], how.level, ""), "items"
    if cluster is None:
        return of_patterns(per_pattern, times, "items", how), "items"
    cells = np.bincount(cluster.index * len(times) + which, minlength=cluster.size * len(times))
    return resampled(cells.reshape(cluster.size, -1).astype(np.float64) @ per_pattern, "projects", how), "projects"
