"""Agreement between evaluators (RLI 3.4, B.2): the share of equal votes, the share of opposed votes, Krippendorff's
alpha, Gwet's AC1, and agreement on positive votes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Codes, Floats, Ints, codes, same_length, series
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling, spread_of, weighted_sums
from worksample.metrics.uncertainty.intervals import percentiles

from . import agreement_coefficients
from .vote_tally import Tally, tally_votes
from .vote_verdicts import THREE_VOTES, Ballots, VoteProtocol, first_votes


@dataclass(frozen=True, slots=True)
class Scale:
    """Meaning of votes. Votes of `positive` or more are positive. Two votes on one item that equal the two `ends` are a
    hard disagreement.
    """

    positive: float
    ends: tuple[float, float]


FEWEST = 5
"""Minimum number of units (projects or items) for the interval of a coefficient of agreement."""

HOLISTIC = Scale(positive=2, ends=(1, 3))
"""Scale of holistic votes (RLI 3.4): 1 is worse than the reference, 2 as good, 3 better."""
PREFERENCE = Scale(positive=1, ends=(0, 1))
"""Scale of preferences in a pair: 1 for the first deliverable, 0 for the second, 0.5 for a tie."""
PASS_FAIL = Scale(positive=1, ends=(0, 1))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between votes on the same items.

    If few items pass, even a high share of equal votes proves little. Then read alpha and AC1 as well, which correct
    for agreement by chance.
    """

    share: Estimate
    """Share of equal votes among all unordered pairs of votes on the same item."""
    hard: Estimate
    """Share of opposed votes among all unordered pairs of votes on the same item: one vote at each end of the scale."""
    positive: Estimate
    """Share of positive votes among the other votes on an item that has a positive vote."""
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    alpha_interval: Estimate
    ac1: Estimate

    def all(self) -> tuple[Estimate, ...]:
        alphas = (self.alpha_nominal, self.alpha_ordinal, self.alpha_interval)
        return (self.share, self.hard, self.positive, *alphas, self.ac1)


def measure_agreement(
    ballots: Ballots, scale: Scale = HOLISTIC, protocol: VoteProtocol = THREE_VOTES, how: Resampling = DEFAULT
) -> Agreement:
    """Measure the agreement between votes on the same items.

    Under a protocol with a tie-break only the first two votes on an item count, since a third vote is requested only if
    the first two disagree. Such a protocol requires `order`. Intervals are over projects, or over items if no projects
    are given. Raises UsageError for two votes of one evaluator on one item, for a missing `order`, and for more than 64
    distinct votes.
    """
    beyond = _beyond(ballots, protocol)
    tally, cluster = _count_votes(ballots, beyond)
    votes = tally.votes
    times = np.where(votes > 0, tally.times, 0)
    paired, items = int(times[votes >= 2].sum()), int(times.sum())
    counts = Counts(items, paired, ungraded=items - paired).having(
        votes=int(votes @ times), items_with_one_vote=int(times[votes == 1].sum()),
        tie_breaking_votes_left_out=0 if beyond is None else int(beyond.sum()),
        declined_or_failed=series("vote", ballots.vote).null_count(),
    )  # fmt: skip
    return _measure(tally, times, cluster, counts, scale, how)


def _beyond(ballots: Ballots, protocol: VoteProtocol) -> pl.Series | None:
    """Return a flag per row that is true for votes after the protocol's independent votes. Return None if no row is
    such a vote.
    """
    most = int(ballots.tally.votes.max(initial=0))
    if protocol.independent == protocol.planned or most <= protocol.independent:
        return None
    if ballots.order is None:
        raise UsageError(
            f"the order of the votes of {protocol.name!r} is unknown",
            where="column 'order'",
            next="pass order, such as the time of each vote: the tie-break must not count",
        )
    voted = series("vote", ballots.vote).is_not_null()
    subject, order = (series(n, c).filter(voted) for n, c in (("subject", ballots.subject), ("order", ballots.order)))
    late = np.zeros(len(voted), dtype=bool)
    late[voted.to_numpy()] = ~first_votes(subject, order, protocol).to_numpy()
    return pl.Series(late)


def _count_votes(ballots: Ballots, beyond: pl.Series | None) -> tuple[Tally, Codes | None]:
    """Return the tally of the votes that count, and the project of each subject (None if votes have no projects)."""
    if beyond is None and ballots.project is None:
        return ballots.tally, None
    subject, vote = series("subject", ballots.subject), series("vote", ballots.vote)
    kept = vote.is_not_null() if beyond is None else vote.is_not_null() & ~beyond
    subject = subject.filter(kept)
    tally = tally_votes(subject, vote.filter(kept))
    if ballots.project is None:
        return tally, None
    same_length(subject=ballots.subject, project=ballots.project)
    projects = codes("project", series("project", ballots.project).filter(kept))
    subjects = codes("subject", subject)
    of = np.zeros(subjects.size, dtype=np.int64)
    of[subjects.index] = projects.index
    return tally, Codes(of, projects.labels)


def _measure(
    tally: Tally, times: Ints, cluster: Codes | None, counts: Counts, scale: Scale, how: Resampling
) -> Agreement:
    table, steps = tally.table, tally.steps
    ends = tuple(int(np.flatnonzero(steps == end)[0]) for end in scale.ends if end in steps)
    per_pattern = agreement_coefficients.item_sums(
        table.astype(np.float64), (ends[0], ends[1]) if len(ends) == 2 else None
    )
    total = times[None, :] @ per_pattern
    unit = _Units(per_pattern, tally, times, cluster, how)

    def share(
        name: str, parts: Callable[[Floats], tuple[Floats, Floats]], why: str = "", *, weighted: bool = False
    ) -> Estimate:
        above, below = (float(part[0]) for part in parts(total)) if counts.valid else (0.0, 0.0)
        if not below:
            return Estimate(
                name, None, counts, unit=Unit.SHARE, reason=why if counts.valid else "no item has two votes"
            )
        ends, note = unit.part(parts) if weighted else unit.share(parts)
        return Estimate(name, min(1.0, above / below), counts, *ends, Unit.SHARE).noting(note)

    def figure(name: str, statistic: Callable[[Floats], Floats]) -> Estimate:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(statistic(total)[0]) if counts.valid else float("nan")
        if np.isnan(value):
            return Estimate(name, None, counts, reason=flat if counts.valid else "no item has two votes")
        ends, note = unit.coefficient(statistic)
        return Estimate(name, value, counts, *ends).noting(note)

    flat = "all votes are the same, so chance agrees as well"
    yes = steps >= scale.positive
    return Agreement(
        share=share("agreement", agreement_coefficients.share),
        hard=share("hard disagreement", agreement_coefficients.hard),
        positive=share(
            "agreement on positives",
            lambda s: agreement_coefficients.positive(s, yes),
            "no positive vote",
            weighted=True,
        ),
        alpha_nominal=figure("alpha (nominal)", lambda s: agreement_coefficients.alpha(s, steps, "nominal")),
        alpha_ordinal=figure("alpha (ordinal)", lambda s: agreement_coefficients.alpha(s, steps, "ordinal")),
        alpha_interval=figure("alpha (interval)", lambda s: agreement_coefficients.alpha(s, steps, "interval")),
        ac1=figure("AC1", lambda s: agreement_coefficients.ac1(s, len(steps))),
    )


class _Units:
    """Sums of votes per unit, from which intervals are computed. Units are projects, or items if votes have no
    projects.
    """

    def __init__(self, per_pattern: Floats, tally: Tally, times: Ints, cluster: Codes | None, how: Resampling) -> None:
        self.how, self.name = how, "items" if cluster is None else "projects"
        self.sums, self.times = per_pattern, times
        self.more = _extreme_items(tally.table, times)
        if cluster is not None:
            cells = np.bincount(cluster.index * len(times) + tally.which, minlength=cluster.size * len(times))
            self.sums = cells.reshape(cluster.size, len(times)).astype(np.float64) @ per_pattern
            self.more = self.more * (float(times.sum()) / max(1, cluster.size))
            self.times = np.ones(cluster.size, dtype=np.int64)

    @cached_property
    def draws(self) -> tuple[Floats, Floats]:
        """The sums in each of many random reweightings of the units, and the random weight of one additional unit in
        each.
        """
        rng = self.how.rng()
        sums = weighted_sums(self.sums, self.times, self.how.resamples, rng)
        return sums, rng.standard_exponential((self.how.resamples, 1))

    def share(self, parts: Callable[[Floats], tuple[Floats, Floats]]) -> tuple[Interval, str]:
        """Return the interval of a share of pairs of votes. Each unit has the weight of its number of pairs."""
        return units.share_of_sums(*parts(self.sums), self.how.level, times=self.times)

    def part(self, parts: Callable[[Floats], tuple[Floats, Floats]]) -> tuple[Interval, str]:
        """Return the interval of a share whose denominator is itself random, such as the number of positive votes. The
        method is that of `coefficient`.
        """
        if int(self.times.sum()) < FEWEST:
            return self.share(parts)
        ends, note = self.coefficient(lambda sums: np.divide(*parts(sums)))
        # Of votes that are all positive no item can say otherwise.
        return (ends, note) if ends.method else self.share(parts)

    def coefficient(self, statistic: Callable[[Floats], Floats]) -> tuple[Interval, str]:
        """Return the interval of a coefficient, and a note. With fewer than `FEWEST` units there is only a note.

        Units get random weights that add up to 1. For each end of the interval, one additional unit is assumed that
        moves the coefficient as far as possible towards that end. For shares this gives Clopper and Pearson's interval.
        """
        many = int(self.times.sum())
        if many < FEWEST:
            return Interval(), f"{many} {self.name}, too few for an interval of a coefficient: {FEWEST} are needed"
        sums, weight = self.draws
        with np.errstate(divide="ignore", invalid="ignore"):
            value, *moved = statistic(np.concatenate([np.zeros((1, len(sums[0]))), self.more]) + self.times @ self.sums)
            least, most = self.more[int(np.nanargmin(moved))], self.more[int(np.nanargmax(moved))]
            below, above = (statistic(sums + weight * unit) for unit in (least, most))
            error = spread_of(statistic(sums))
        low, high = percentiles(below, self.how.level)[0], percentiles(above, self.how.level)[1]
        if low is not None and high is not None and high - low < 1e-12:
            return Interval(), "no item could change it: no interval"
        method = f"weighted {self.name} ({self.how.resamples}) and one more"
        return Interval(
            None if low is None else min(low, float(value)), None if high is None else max(high, float(value)),
            self.how.level, method, error,
        ), ""  # fmt: skip


def _extreme_items(table: Ints, times: Ints) -> Floats:
    """Return the sums of invented items that can move a coefficient the most.

    The items have the usual number of votes. In some, all votes are equal. In others, votes are split between the most
    common value and another value, or between the first and the last value of the scale.
    """
    votes = table.sum(axis=1)
    two = votes >= 2
    usual = max(2, round(float(votes[two] @ times[two]) / max(1, int(times[two].sum()))))
    size = table.shape[1]
    common, every = int((times @ table).argmax()), np.eye(size)
    pairs = [(common, other) for other in range(size) if other != common] + [(0, size - 1)]
    one, other = np.array(pairs).T
    most, least = usual - usual // 2, usual // 2
    splits = [most * every[one] + least * every[other], least * every[one] + most * every[other]]
    return agreement_coefficients.item_sums(np.concatenate([usual * every, *splits]), None)
