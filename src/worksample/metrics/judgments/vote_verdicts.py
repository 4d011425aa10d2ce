"""Holistic verdicts from votes of 1, 2 or 3, and the automation rate (RLI 3.3, 3.4, B.2).

A vote of 1 means that the deliverable would not be accepted as the commissioned work. A vote of 2 means that it is as
good as the reference, and 3 that it is better. An item has passed if its verdict is 2 or 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Ints,
    all_differ,
    codes,
    integers,
    pair_codes,
    same_length,
    series,
    whole,
)
from worksample.metrics.estimate import Estimate
from worksample.metrics.scores.shares_and_means import rate
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling
from worksample.metrics.uncertainty.intervals import RateInterval

from .vote_tally import Tally, tally_votes


@dataclass(frozen=True, slots=True)
class VoteProtocol:
    """Rules for collecting votes on an item. A verdict is final if no outstanding vote can change it. The order of
    votes never changes a verdict.
    """

    name: str
    planned: int = 3
    """Maximum number of votes that are collected to decide an item."""
    independent: int = 3
    """Number of votes that are always requested, whatever they say. Only these votes count for agreement."""

    def __post_init__(self) -> None:
        if not 1 <= self.independent <= self.planned:
            raise UsageError(
                f"{self.independent} independent votes out of {self.planned} planned votes is impossible",
                where=f"protocol {self.name!r}",
                next="pass 1 <= independent <= planned",
            )


THREE_VOTES = VoteProtocol("three votes")
"""Protocol with three independent votes, decided by the majority (RLI 3.4)."""
TIE_BREAK = VoteProtocol("two votes and a tie-break", independent=2)
"""Protocol with two independent votes, and a third vote if the two disagree (RLI B.2)."""


@dataclass(frozen=True, slots=True)
class HolisticVerdict:
    """A verdict on one item. `passed` and `label` are None as long as they are undecided. `reason` says why one is
    undecided and is empty if both are decided.
    """

    votes: int
    passed: bool | None
    label: int | None
    reason: str = ""


def holistic_verdict(votes: Iterable[int], protocol: VoteProtocol = THREE_VOTES) -> HolisticVerdict:
    """Return the verdict on one item from its votes.

    The votes (2, 3) give a pass without a label. The votes (1, 2) decide neither. The votes (1, 2, 3) give a pass with
    label 2. Raises UsageError for a vote outside {1, 2, 3}.
    """
    values = list(votes)
    row = holistic_verdicts(["item"] * len(values), values, protocol=protocol)
    if not len(row):
        return HolisticVerdict(0, None, None, "no votes")
    return HolisticVerdict(int(row["votes"][0]), row["passed"][0], row["label"][0], str(row["reason"][0]))


def holistic_verdicts(
    subject: Column,
    vote: Column,
    *,
    evaluator: Column | None = None,
    protocol: VoteProtocol = THREE_VOTES,
) -> pl.DataFrame:
    """Return the verdicts on all subjects as a table with the columns subject, votes, passed, label, reason. The input
    has one row per vote.

    `vote` is 1, 2 or 3, or null if the evaluator declined or failed. A null is not a vote: a subject with only nulls is
    ungraded, so its passed and label are null and its reason is "no votes". If `evaluator` is given, two votes of one
    evaluator on one subject are an error; strike one of the two first.

    A subject passes if the majority of its votes is 2 or 3. Its label is the value with a majority, otherwise the
    median. Votes beyond the planned number count as well. An even split decides nothing.
    """
    return ballot_verdicts(Ballots(subject, vote, evaluator), protocol)


@dataclass(frozen=True)
class Ballots:
    """Votes on items, one row per vote. They are counted once for all figures.

    `vote` is a number on an ordered scale, null if no vote was given. `evaluator` is used to find duplicate votes.
    `project` says which items are resampled together. `order`, a time or a number, says which vote came first.
    """

    subject: Column
    vote: Column
    evaluator: Column | None = None
    project: Column | None = None
    order: Column | None = None

    @cached_property
    def tally(self) -> Tally:
        """The number of votes per subject. Raises UsageError if one evaluator has two votes on one subject."""
        same_length(subject=self.subject, vote=self.vote, evaluator=self.evaluator)
        if self.evaluator is not None:
            present = series("vote", self.vote).is_not_null().to_numpy()
            refuse_doubles(codes("subject", self.subject), codes("evaluator", self.evaluator), present)
        return tally_votes(self.subject, self.vote)


def ballot_verdicts(ballots: Ballots, protocol: VoteProtocol = THREE_VOTES) -> pl.DataFrame:
    """Return the result of `holistic_verdicts` for ballots whose tally is shared with other figures, such as
    `measure_agreement`.
    """
    tally = ballots.tally
    if tally.votes.any() and not set(tally.steps.tolist()) <= {1.0, 2.0, 3.0}:
        integers("vote", ballots.vote, low=1, high=3)
    counts = tally.counts_of(1, 2, 3)
    passed, known, label = decide(counts, protocol.planned)
    total = counts.sum(axis=0)
    small = pl.DataFrame(
        {
            "votes": total,
            "passed": pl.Series(passed).set(pl.Series(~known), None),
            "label": pl.Series(label).set(pl.Series(label == 0), None),
            "reason": _reasons(total, known, label, protocol.planned),
        }
    )
    return pl.DataFrame([tally.labels.alias("subject"), *small[pl.Series(tally.which.astype(np.uint32))]])


def _reasons(total: Ints, known: Flags, label: Ints, planned: int) -> list[str]:
    few, unsettled = ~known & (total * 2 < planned), label == 0
    says = ["no votes", "too few votes", "the votes are split on passing", "the votes are split on the label"]
    return [str(reason) for reason in np.select([total == 0, few, ~known, unsettled], says, "")]


def count_votes(index: Ints, value: Ints, size: int) -> Ints:
    """Return the number of votes of 1, 2 and 3 on each item, as an array of shape (3, items). A 0 is no vote."""
    flat = np.bincount(index * 4 + value, minlength=4 * size)
    return np.ascontiguousarray(flat.reshape(size, 4)[:, 1:].T).astype(np.int64)


def decide(counts: Ints, planned: int | Ints) -> tuple[Flags, Flags, Ints]:
    """Return three arrays with an element per item: passed, whether `passed` is decided, and the label (0 if
    undecided).

    `counts` has shape (3, items). `planned`, the planned number of votes, may differ between items.
    """
    ones, twos, threes = counts
    total = ones + twos + threes
    needed = np.maximum(total, planned)
    passed = (twos + threes) * 2 > needed
    known = (total > 0) & (passed | (ones * 2 > needed))
    label = np.zeros(len(total), dtype=np.int64)
    lower, upper = (np.where(ones >= rank, 1, np.where(ones + twos >= rank, 2, 3)) for rank in _middles(total))
    settled = (total >= planned) & (lower == upper)
    label[settled] = lower[settled]
    for value, votes in ((1, ones), (2, twos), (3, threes)):
        label[votes * 2 > needed] = value
    label[~known] = 0
    return passed, known, label


def _middles(total: Ints) -> tuple[Ints, Ints]:
    """Return the two ranks between which the median of each item's votes lies. Both ranks are equal if the number of
    votes is odd.
    """
    return (total + 1) // 2, total // 2 + 1


def refuse_doubles(subjects: Codes, evaluators: Codes, present: Flags) -> None:
    """Raise UsageError if one evaluator has two votes on one subject."""
    first, second = subjects.index, evaluators.index
    if not present.all():
        first, second = first[present], second[present]
    sizes = subjects.size, evaluators.size
    if all_differ(first, second, sizes):
        return
    cell, keys = pair_codes(first, second, sizes)
    if len(keys) == len(first):
        return
    doubled = int(keys[np.bincount(cell) > 1][0])
    who, what = evaluators.labels[doubled % evaluators.size], subjects.labels[doubled // evaluators.size]
    raise UsageError(
        f"evaluator {who} has several votes on {what} ({len(first) - len(keys)} votes too many in all)",
        where="column 'evaluator'",
        next="strike all but one of them with an amendment",
    )


def first_votes(subject: Column, order: Column, protocol: VoteProtocol) -> pl.Series:
    """Return a flag per row that is true if the vote is one of the protocol's independent votes on its subject.
    `order`, a time or a number, says which votes came first.
    """
    same_length(subject=subject, order=order)
    subjects = codes("subject", subject)
    sizes = np.bincount(subjects.index, minlength=subjects.size)
    first = np.ones(len(subjects.index), dtype=bool)
    crowded = np.flatnonzero((sizes > protocol.independent)[subjects.index])
    column = series("order", order).gather(crowded)
    if column.dtype.is_integer():
        rank = whole("order", column)
    else:
        moments = codes("order", column)
        rank = moments.labels.rank("ordinal").to_numpy()[moments.index].astype(np.int64)
    inside = subjects.index[crowded]
    rows = np.lexsort((rank, inside))
    many = np.bincount(inside, minlength=subjects.size)
    starts = np.cumsum(many) - many
    place = np.arange(len(rows)) - starts.repeat(many)
    first[crowded[rows]] = place < protocol.independent
    return pl.Series("independent", first)


def automation_rate(
    passed: Column,
    *,
    state: Column | None = None,
    project: Column | None = None,
    instance: Column | None = None,
    method: RateInterval = "exact",
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the share of projects in which an agent's deliverable was judged at least as good as the human's (RLI
    3.3).

    `passed` has one row per submission of the agent. It is null if the submission is undecided or ungraded; such rows
    are left out and counted. With `project` (and `instance` within the project), repeats are averaged first, and the
    interval is over projects.
    """
    return rate(passed, state=state, task=project, instance=instance, name="automation rate", method=method, how=how)
