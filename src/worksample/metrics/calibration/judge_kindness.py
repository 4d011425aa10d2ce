"""Whether a judge is kinder (or harsher) to one agent than to the others, and how many labels it took to see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.columns import Column, Floats, Ints, codes, floats, same_length
from worksample.metrics.uncertainty.intervals import check_level

FIRST_LOOK = 20
"""Labels at the first look; each later one has twice as many."""


@dataclass(frozen=True, slots=True)
class Kindness:
    """What a judge gives an agent more than others whom people judged alike. `named` where that is beyond chance."""

    agent: str
    excess: float
    """Mean of the judge's answers on its labelled work, less what others with the same answers of people got."""
    p: float
    """Two-sided, at the look that named it, else at the last."""
    named: bool
    labels: int
    """Labels of all agents at that look: what it took."""
    own: int
    """Of them, this agent's."""

    @property
    def said(self) -> str:
        """In words, for a report."""
        if not self.named:
            return f"nothing beyond chance in {self.labels} labels ({self.own} of its own)"
        way = "kinder" if self.excess > 0 else "harsher"
        more = f"{100 * abs(self.excess):.0f} points"
        return f"{way} to {self.agent} by {more}, seen with {self.labels} labels ({self.own} of its own)"


def kindness_of(
    judge: Column, people: Column, agent: Column, *, order: Column | None = None, level: float = 0.95
) -> tuple[Kindness, ...]:
    """Test each agent against all others, among rows on which people said the same (Mantel 1963; Mantel and Haenszel
    1959 for passes): a better agent gets more from an honest judge too, and that is no kindness.

    Rows without a label or an answer are left out. Looks are taken at 20, 40, 80, ... labels in the order in which they
    came (`order`, else as the rows stand), and at the last; look k spends (1 - level) / (k (k + 1)), shared by the
    agents that are left (Holm 1979), so that an even judge is accused no more often than 1 - level in all looks.
    """
    check_level(level)
    same_length(judge=judge, people=people, agent=agent, order=order)
    (given, answered), (said, asked) = floats("judge", judge, low=0, high=1), floats("people", people, low=0, high=1)
    who = codes("agent", agent)
    rows = np.flatnonzero(answered & asked)
    if order is not None:
        moments = codes("order", order)
        rank = moments.labels.rank("ordinal").to_numpy()[moments.index]
        rows = rows[np.argsort(rank[rows], kind="stable")]
    if who.size < 2 and len(rows):
        raise UsageError(
            "one agent alone is judged no kinder than others",
            where="column 'agent'",
            next="pass rows of two agents or more",
        )
    names = who.names()
    found: dict[int, Kindness] = {}
    last: list[Kindness] = []
    for number, size in enumerate(_looks(len(rows)), start=1):
        seen = rows[:size]
        told = _look(given[seen], said[seen], who.index[seen], who.size, (1 - level) / (number * (number + 1)))
        own = np.bincount(who.index[seen], minlength=who.size)
        last = [Kindness(names[k], *each, size, int(own[k])) for k, each in enumerate(told)]
        for k, each in enumerate(last):
            if each.named:
                found.setdefault(k, each)
    return tuple(found.get(k, each) for k, each in enumerate(last))


def _look(judge: Floats, people: Floats, agent: Ints, agents: int, alpha: float) -> list[tuple[float, float, bool]]:
    """(excess, p, named) of each agent. Who is named is left out of what the rest is compared with: else a judge that
    is kind to one agent would seem harsh to all others.
    """
    told = [(0.0, 1.0, False)] * agents
    left = list(range(agents))
    rows = np.ones(len(agent), dtype=bool)
    while len(left) > 1:
        excess, p = _scores(judge[rows], people[rows], agent[rows], agents)
        for k in left:
            told[k] = (float(excess[k]), float(p[k]), False)
        # Of two that differ by the same, the one that gets more is named.
        worst = min(left, key=lambda k: (round(float(p[k]), 12), -float(excess[k])))
        if p[worst] > alpha / len(left):
            break
        told[worst] = (float(excess[worst]), float(p[worst]), True)
        left.remove(worst)
        rows &= agent != worst
    return told


def _looks(labels: int) -> list[int]:
    looks, size = [], FIRST_LOOK
    while size < labels:
        looks.append(size)
        size *= 2
    return [*looks, labels] if labels else []


def _scores(judge: Floats, people: Floats, agent: Ints, agents: int) -> tuple[Floats, Floats]:
    """(excess, two-sided p) of each agent: its sum over levels of people's answer against what shuffling the judge's
    answers within each level would give it.
    """
    from scipy.special import ndtr

    over, spread, matched = np.zeros(agents), np.zeros(agents), np.zeros(agents)
    for value in np.unique(np.round(people, 1)):
        at = np.round(people, 1) == value
        j, own = judge[at], np.bincount(agent[at], minlength=agents)
        size = len(j)
        if size < 2:
            continue
        others = size - own
        mean = j.mean()
        got = np.bincount(agent[at], weights=j, minlength=agents)
        over += got - own * mean
        spread += own * others / (size * (size - 1)) * ((j - mean) ** 2).sum()
        # What it exceeds the others by, not the mean that it is part of.
        matched += own * others / size
    known = spread > 1e-12
    excess = np.where(matched > 0, over / np.where(matched > 0, matched, 1), 0.0)
    # Half an answer less, since answers come whole (continuity correction).
    z = np.where(known, np.maximum(np.abs(over) - 0.5, 0) / np.sqrt(np.where(known, spread, 1)), 0.0)
    return excess, np.where(known, 2 * ndtr(-z), 1.0)
