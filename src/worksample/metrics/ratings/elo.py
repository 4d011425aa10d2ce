"""Elo scores from pairwise preferences by the Bradley-Terry model: 400 points mean odds of 10:1, and the human has
1,000 points (RLI 3.3, B.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Floats, count_flags
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, Unit, tabulate
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Interval, Resampling, spread_of
from worksample.metrics.uncertainty.intervals import expanded_level, normal_quantile, percentiles

from .bradley_terry import Pairs, fit
from .connectivity import Connectivity, check_connectivity
from .elo_intervals import FITTED, MANY_PROJECTS, Refit, UnseenProjects, resample_strengths, sandwich
from .pair_sums import PairSums
from .preferences import HUMAN

_UNEVEN = 4
"""Ratio of the most to the fewest comparisons of a pair from which a note says that the choice of weights matters."""
MOST_AGENTS = 1_000
"""Maximum number of agents to rate. The work of a fit grows with the cube of the number of agents, and every resample
needs a fit.
"""
POINTS = 400 / math.log(10)
"""Number of Elo points per nat of strength."""


@dataclass(frozen=True, slots=True)
class EloOptions:
    """Options for fitting ratings. Every estimate names the options that differ from their defaults."""

    weight: Literal["pair", "comparison"] = "pair"
    """Whether every pair of agents has weight 1 ("pair", RLI B.2) or every comparison has weight 1 ("comparison")."""
    anchor: str | None = HUMAN
    """Agent whose score is fixed. If None, the mean over all agents is fixed instead."""
    anchor_score: float = 1000.0
    ridge: float = 0.0
    """Precision of a normal prior on the strengths in nats. 1.0 means a standard deviation of 174 points; 0 means no
    prior.
    """
    interval: Literal["bootstrap", "sandwich", "none"] = "bootstrap"
    """Method of the intervals: a bootstrap over projects, a faster approximation (`sandwich`), or no intervals."""
    part: bool = False
    """Whether to rate only the agents connected with the anchor if not all agents can be rated. Only the comparisons
    among these agents are then used.
    """

    def __post_init__(self) -> None:
        if self.weight not in ("pair", "comparison") or self.interval not in ("bootstrap", "sandwich", "none"):
            raise UsageError(
                f"weight {self.weight!r} or interval {self.interval!r} is unknown",
                next='weight is "pair" or "comparison", interval "bootstrap", "sandwich" or "none"',
            )
        if not (self.ridge >= 0 and math.isfinite(self.ridge)):
            raise UsageError(f"the ridge {self.ridge} is out of range", next="pass 0 for none, or a precision above 0")


@dataclass(frozen=True, slots=True)
class EloTable:
    """Elo scores, best first. Agents without a score come last.

    `replicates` contains the scores in every resample, in points, with shape (resamples, rated agents). It is NaN for a
    resample without a solution, and None if no bootstrap was made. `rated` names the agents of its columns.
    """

    ratings: dict[str, Estimate]
    connectivity: Connectivity
    rated: tuple[str, ...]
    replicates: Floats | None = None
    how: Resampling = DEFAULT
    projects: int = 0
    tilt: UnseenProjects | None = None
    """Scores under assumed unseen projects, from which the minimum width of a difference's interval is computed. None
    if no bootstrap was made.
    """

    def difference(self, agent: str, other: str) -> Estimate:
        """Return how many points `agent` is ahead of `other`, with an interval that uses the same resamples for both
        agents.
        """
        name = f"{agent} minus {other}"
        for one in (agent, other):
            if one not in self.ratings:
                raise UsageError(f"no agent is called {one!r}", next=f"one of {', '.join(self.ratings)}")
        a, b = self.ratings[agent], self.ratings[other]
        if a.value is None or b.value is None:
            return Estimate(name, None, a.counts, unit=Unit.ELO, reason=a.reason or b.reason)
        found = Interval()
        said: tuple[str, ...] = ()
        if self.replicates is not None and self.tilt is not None:
            mine, others = self.rated.index(agent), self.rated.index(other)
            with np.errstate(invalid="ignore"):
                gaps = self.replicates[:, mine] - self.replicates[:, others]
            ends = percentiles(gaps, expanded_level(self.how.level, self.projects))
            moved = POINTS * self.tilt.strengths([{mine: wins, others: not wins} for wins in (False, True)])
            low, high = (float(end) for end in moved[mine] - moved[others])
            found, said = _widen(Interval(*ends, self.how.level, a.method), low, high)
        return Estimate(
            name, a.value - b.value, a.counts, *found, unit=Unit.ELO,
            notes=tuple(dict.fromkeys((*a.notes, *said))),
            conditional_on=a.conditional_on,
        )  # fmt: skip

    def win_probability(self, agent: str, other: str) -> Estimate:
        """Return the probability that `agent` is preferred to `other` on a project, with ties counted half (RLI 3.3,
        B.2).

        The probability and the ends of its interval are computed from the difference in points and the ends of the
        difference's interval. An open end becomes 0 or 1.
        """
        gap = self.difference(agent, other)
        name = f"{agent} preferred to {other}"
        if gap.value is None:
            return replace(gap, name=name, unit=Unit.SHARE)
        low, high = (None if end is None else win_probability(end) for end in (gap.low, gap.high))
        if gap.level is not None:
            low, high = 0.0 if low is None else low, 1.0 if high is None else high
        chance = win_probability(gap.value)
        return replace(gap, name=name, value=chance, low=low, high=high, error=None, unit=Unit.SHARE)

    def frame(self) -> pl.DataFrame:
        """Return the ratings as a table (see `tabulate`)."""
        return tabulate(self.ratings)


def win_probability(points: float) -> float:
    """Return the probability that an agent with a lead of `points` is preferred, with ties counted half (RLI 3.3, B.2).
    A lead of 400 points means odds of 10:1, a probability of 0.909.

    For two agents of a table, `EloTable.win_probability` also gives an interval. Raises UsageError if `points` is not a
    number.
    """
    if math.isnan(points):
        raise UsageError("points must be a number, not NaN", next="pass the difference of two ratings")
    return 1 / (1 + math.exp(-max(min(points / POINTS, 700.0), -700.0)))


def elo_ratings(sums: PairSums, options: EloOptions | None = None, how: Resampling = DEFAULT) -> EloTable:
    """Return Elo scores of all agents in `sums` (see `pair_sums`, `compare_tables`).

    If the win graph is not strongly connected, no agent gets a score, and each estimate says which agents cannot be
    rated and why. The options `part` and `ridge` allow scores even then; the output names the option that was used.
    Raises UsageError if the anchor is not among the agents.
    """
    options = options or EloOptions()
    if len(sums.agents) > MOST_AGENTS:
        reason = f"{len(sums.agents):,} agents are too many to rate: at most {MOST_AGENTS:,}"
        nobody = Connectivity((), (), dict.fromkeys(sums.agents, reason))
        return EloTable({a: _none(a, sums, reason) for a in sums.agents}, nobody, ())
    if options.anchor is not None and sums.agents and options.anchor not in sums.agents:
        raise UsageError(
            f"the anchor {options.anchor!r} is in no comparison",
            next="add the holistic verdicts (human_comparisons), or pass EloOptions(anchor=None)",
        )
    by_count = options.weight == "comparison"
    preference, _ = sums.totals(by_count=by_count) if sums.pairs else (np.zeros(0), np.zeros(0))
    links = check_connectivity(sums.agents, sums.first, sums.second, preference, options.anchor)
    if len(sums.agents) < 2:
        reason = "fewer than two agents were compared"
        return EloTable({a: _none(a, sums, reason) for a in sums.agents}, links, ())
    notes = _notes(sums, options)
    if links.identifiable or options.ridge:
        return _rate(sums, options, how, links, notes if links.identifiable else (*notes, f"without it: {links.says}"))
    if options.part and len(links.main) > 1:
        return _rate_part(sums, options, how, links, notes)
    reason = f"not identifiable: {links.says}"
    return EloTable({a: _none(a, sums, reason) for a in sums.agents}, links, ())


def _none(agent: str, sums: PairSums, reason: str) -> Estimate:
    return Estimate(agent, None, _counts(sums, agent), unit=Unit.ELO, reason=reason)


def _counts(sums: PairSums, agent: str) -> Counts:
    """Return the counts of an agent's comparisons."""
    place, left = sums.agents.index(agent), sums.undecided.get(agent, 0)
    done, pairs, projects = (int(each[place]) for each in sums.per_agent)
    return Counts(done + left, done, ungraded=left).having(
        agents=len(sums.agents), pairs=pairs, projects=projects, comparisons_in_all=sums.comparisons
    )


def _notes(sums: PairSums, options: EloOptions) -> tuple[str, ...]:
    size = len(sums.agents)
    missing = size * (size - 1) // 2 - sums.pairs
    return tuple(
        note
        for note in (
            "every comparison weighs 1" if options.weight == "comparison" else "",
            f"ridge prior of precision {options.ridge:g} per square nat" if options.ridge else "",
            f"{missing} pairs of agents were never compared" if missing else "",
            f"{sums.left_out} undecided comparisons left out" if sums.left_out else "",
            _uneven_note(sums, options),
        )
        if note
    )


def _uneven_note(sums: PairSums, options: EloOptions) -> str:
    """Return a note if some pairs have many more comparisons than others, so that the choice of weights matters.
    Otherwise return "".
    """
    if options.weight == "comparison" or sums.pairs < 2:
        return ""
    few, many = int(sums.by_pair.min()), int(sums.by_pair.max())
    if many < _UNEVEN * few:
        return ""
    return (
        f"pairs with {few} and with {many} comparisons weigh the same (RLI B.2): "
        "weights by comparison have less error if comparisons are few"
    )


def _rate(
    sums: PairSums, options: EloOptions, how: Resampling, links: Connectivity, notes: tuple[str, ...]
) -> EloTable:
    by_count = options.weight == "comparison"
    preference, total = sums.totals(by_count=by_count)
    pairs = Pairs(len(sums.agents), sums.first, sums.second)
    weight = total if by_count else np.ones(sums.pairs)
    strength = fit(pairs, preference, weight, ridge=options.ridge)
    anchor = None if options.anchor is None else sums.agents.index(options.anchor)
    points = _anchor_points(strength, anchor, options.anchor_score)
    ends = _ends(Refit(sums, pairs, strength, by_count, options.ridge, anchor), options, how)
    fixed = f"{options.anchor} at {options.anchor_score:g}" if options.anchor else f"mean at {options.anchor_score:g}"
    ratings = {}
    for place in np.argsort(-points, kind="stable"):
        agent = sums.agents[place]
        interval, said = ends.each[place]
        if place == anchor:
            interval, said = Interval(method="fixed"), ()
        elif options.ridge and agent in links.reasons:
            interval, said = Interval(), ("the prior alone sets its score: no interval",)
        given = (fixed, *((f"ridge prior {options.ridge:g}",) if options.ridge else ()))
        rating = Estimate(agent, float(points[place]), _counts(sums, agent), unit=Unit.ELO, conditional_on=given)
        ratings[agent] = replace(rating, **interval._asdict()).noting(*notes, *ends.notes, *said)
    return EloTable(ratings, links, sums.agents, ends.replicates, how, sums.projects, ends.tilt)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Intervals and notes of each agent. `notes` are about all agents together."""

    each: list[tuple[Interval, tuple[str, ...]]]
    notes: tuple[str, ...] = ()
    replicates: Floats | None = None
    tilt: UnseenProjects | None = None


def _ends(refit: Refit, options: EloOptions, how: Resampling) -> _Ends:
    size, projects = len(refit.base), refit.sums.projects
    if projects < 2 or options.interval == "none":
        said = ("one project: no interval",) if options.interval != "none" else ()
        return _Ends([(Interval(), ())] * size, said)
    at, score = refit.anchor, options.anchor_score
    points = _anchor_points(refit.base, at, score)
    if options.interval == "sandwich":
        error = POINTS * sandwich(refit)
        far = normal_quantile((1 + how.level) / 2) * error
        method = "preview: sandwich standard error, clustered by project"
        found = [
            Interval(float(p - f), float(p + f), how.level, method, float(e) or None)
            for p, f, e in zip(points, far, error, strict=True)
        ]
        return _Ends(
            _widen_to_unseen(found, UnseenProjects(refit, how.level, linear=projects >= MANY_PROJECTS), options)
        )
    drawn, off = resample_strengths(refit, how)
    replicates = _anchor_points(drawn.T, at, score)
    wide = expanded_level(how.level, projects)
    shift = _points_with_one_more_project(refit, options) - points
    method = f"bootstrap over {projects} projects ({how.resamples}){'' if off is None else ', by influences'}"
    found = [
        Interval(*_extend_interval(percentiles(column, wide), float(s)), how.level, method, spread_of(column))
        for column, s in zip(replicates.T, shift, strict=True)
    ]
    tilt = UnseenProjects(refit, how.level, linear=off is not None)
    each = [
        (interval, (*said, *_open_ends(column)))
        for (interval, said), column in zip(_widen_to_unseen(found, tilt, options), replicates.T, strict=True)
    ]
    return _Ends(each, () if off is None else (_influences(off),), replicates, tilt)


_NEARLY = "its projects had nearly equal outcomes: the interval allows for different ones"


def _widen_to_unseen(
    found: list[Interval], tilt: UnseenProjects, options: EloOptions
) -> list[tuple[Interval, tuple[str, ...]]]:
    """Return the intervals, widened if necessary to include the scores under assumed unseen projects
    (`UnseenProjects`).
    """
    anchor = tilt.refit.anchor
    alone = [agent for agent in range(len(found)) if agent != anchor]
    out: list[tuple[Interval, tuple[str, ...]]] = [(interval, ()) for interval in found]
    if not alone:
        return out
    moved = tilt.strengths([{agent: wins} for agent in alone for wins in (False, True)])
    told = _anchor_points(moved.T, anchor, options.anchor_score)
    for place, agent in enumerate(alone):
        low, high = (float(told[2 * place + side, agent]) for side in (0, 1))
        out[agent] = _widen(found[agent], low, high)
    return out


def _widen(found: Interval, low: float, high: float) -> tuple[Interval, tuple[str, ...]]:
    """Return the interval, widened to include `low` to `high`. Add a note if this makes the interval more than a tenth
    wider.
    """
    ends = (
        None if found.low is None else min(found.low, low), None if found.high is None else max(found.high, high)
    )  # fmt: skip
    before, after = (
        math.inf if one is None or two is None else two - one for one, two in ((found.low, found.high), ends)
    )
    return found._replace(low=ends[0], high=ends[1]), ((_NEARLY,) if after > 1.1 * before else ())


def _influences(off: float) -> str:
    return (
        f"resamples by each project's influence: the largest error among the {FITTED} that were also fitted is at most"
        f" {max(off * POINTS, 0.1):.1f} points"
    )


def _points_with_one_more_project(refit: Refit, options: EloOptions) -> Floats:
    """Return the scores with one additional project in which every pair that was compared ties.

    Other intervals of this package also assume one additional unit.
    """
    preference, total = refit.sums.totals(by_count=refit.by_count)
    toward = (preference * total + 0.5) / (total + 1)
    weight = total + 1 if refit.by_count else np.ones(refit.sums.pairs)
    strength = fit(refit.pairs, toward, weight, ridge=refit.ridge, start=refit.base)
    return _anchor_points(strength, refit.anchor, options.anchor_score)


def _extend_interval(ends: tuple[float | None, float | None], shift: float) -> tuple[float | None, float | None]:
    """Return the interval with its lower end moved down if `shift` is negative, or its upper end moved up if `shift` is
    positive.

    If an agent seldom wins, its resamples contain few more wins than the data, so the upper end of the percentiles is
    too low.
    """
    low, high = ends
    return (
        None if low is None else low + min(0.0, shift),
        None if high is None else high + max(0.0, shift),
    )


def _open_ends(drawn: Floats) -> tuple[str, ...]:
    """Return notes about the resamples in which the agent's score is unbounded."""
    says = (
        (np.isneginf(drawn), "it never wins or ties against the rest: they count as below every score"),
        (np.isposinf(drawn), "it never loses or ties against the rest: they count as above every score"),
        (np.isnan(drawn), "nothing links it with the anchor: they count as beyond both ends"),
    )
    return tuple(f"in {count_flags(some)} of {len(drawn)} resamples {why}" for some, why in says if some.any())


def _anchor_points(strength: Floats, anchor: int | None, score: float) -> Floats:
    """Return strengths as Elo points, shifted so that the anchor (or the mean if there is no anchor) has `score`
    points. Agents are along the last axis.
    """
    zero = strength.mean(axis=-1, keepdims=True) if anchor is None else strength[..., [anchor]]
    return np.asarray((strength - zero) * POINTS + score)


def _rate_part(
    sums: PairSums, options: EloOptions, how: Resampling, links: Connectivity, notes: tuple[str, ...]
) -> EloTable:
    kept = np.array([agent in links.main for agent in sums.agents])
    old = np.flatnonzero(kept)
    new = np.cumsum(kept) - 1
    pair_kept = kept[sums.first] & kept[sums.second]
    cells = pair_kept[sums.pair]
    part = PairSums(
        agents=tuple(sums.agents[i] for i in old),
        first=new[sums.first[pair_kept]],
        second=new[sums.second[pair_kept]],
        projects=sums.projects,
        cells=(sums.project[cells], (np.cumsum(pair_kept) - 1)[sums.pair[cells]]),
        won=sums.won[cells],
        count=sums.count[cells],
        left_out=sums.left_out,
        undecided=sums.undecided,
        bounded=sums.bounded,
    )
    whole = Connectivity((links.main,), links.main, {})
    table = _rate(part, options, how, whole, (*notes, f"left out: {links.says}"))
    given = "comparisons among the rated agents alone"
    ratings = {agent: estimate.conditional_on_more(given) for agent, estimate in table.ratings.items()}
    for agent, reason in links.reasons.items():
        ratings[agent] = _none(agent, sums, f"not identifiable: {reason}")
    return EloTable(ratings, links, table.rated, table.replicates, how, table.projects, table.tilt)
