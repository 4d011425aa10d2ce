"""Tests for careless evaluators: judges that favour an agent or give one answer to everything, people who copy the
judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worksample.errors import UsageError
from worksample.metrics.calibration.label_sample import LEAST
from worksample.metrics.column_checks import Column, Floats, Ints, codes, floats, same_length, text
from worksample.metrics.uncertainty.intervals import check_level

FIRST_LOOK = 20
"""Number of labels at the first look; each later look has twice as many."""


@dataclass(frozen=True, slots=True)
class Kindness:
    """The amount by which a judge gives an agent more than others whose work people judged equal. `named` if it is
    beyond chance.
    """

    agent: str
    excess: float
    """Mean of the judge's answers on the agent's labelled work, minus that of others with the same answers of people.
    """
    p: float
    """Two-sided p at the look that named the agent, else at the last look."""
    named: bool
    labels: int
    """Number of labels of all agents at that look."""
    own: int
    """Number of those labels that are on this agent's work."""

    @property
    def finding_text(self) -> str:
        """The finding as text, for a report."""
        if not self.named:
            return f"nothing beyond chance in {self.labels} labels ({self.own} of its own)"
        way = "kinder" if self.excess > 0 else "harsher"
        more = f"{100 * abs(self.excess):.0f} points"
        return f"{way} to {self.agent} by {more}, shown by {self.labels} labels ({self.own} of its own)"


def kindness_of(
    judge: Column, people: Column, agent: Column, *, order: Column | None = None, level: float = 0.95
) -> tuple[Kindness, ...]:
    """Test each agent against all others, among rows with the same answer by people (Mantel 1963; Mantel and Haenszel
    1959 for passes).

    A better agent gets more from an honest judge too, so only rows with equal answers by people are compared. Rows
    without a label or an answer are left out. Looks are taken at 20, 40, 80, ... labels in the order in which they came
    (`order`, else the order of rows), and at the last; look k spends (1 - level) / (k (k + 1)), shared by the remaining
    agents (Holm 1979), so that over all looks a fair judge is accused with a probability of at most 1 - level.
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
            "the column has only one agent, but the test compares an agent with others",
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
    """Return (excess, p, named) of each agent. A named agent is left out of the comparison for the others: otherwise a
    judge that is kind to one agent would seem harsh to all others.
    """
    told = [(0.0, 1.0, False)] * agents
    left = list(range(agents))
    rows = np.ones(len(agent), dtype=bool)
    while len(left) > 1:
        excess, p = _scores(judge[rows], people[rows], agent[rows], agents)
        for k in left:
            told[k] = (float(excess[k]), float(p[k]), False)
        # Of two agents with the same difference, the one that gets more is named.
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
    """Return (excess, two-sided p) of each agent: its sum over the levels of people's answer, against the sum expected
    if the judge's answers were shuffled within each level.
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
        # Its excess over the others, not over the mean that includes it.
        matched += own * others / size
    known = spread > 1e-12
    excess = np.where(matched > 0, over / np.where(matched > 0, matched, 1), 0.0)
    # Half an answer less, since answers come whole (continuity correction).
    z = np.where(known, np.maximum(np.abs(over) - 0.5, 0) / np.sqrt(np.where(known, spread, 1)), 0.0)
    return excess, np.where(known, 2 * ndtr(-z), 1.0)


@dataclass(frozen=True, slots=True)
class OneAnswer:
    """A judge's single answer to everything. `named` if that is beyond chance."""

    answer: float
    rows: int
    labels: int
    """Number of people's answers that had come in when the judge was named, else of all."""
    otherwise: int
    """Number of those labels with the opposite answer."""
    named: bool

    @property
    def finding_text(self) -> str:
        """The finding as text, for a report."""
        what = "passes" if self.answer >= 0.5 else "fails"
        return (
            f"{what} all {self.rows} items, although people disagree on {self.otherwise} of them, "
            f"shown by {self.labels} labels"
        )


def one_answer_of(
    judge: Column, people: Column, *, threshold: float = 0.8, least: int = LEAST, level: float = 0.99
) -> OneAnswer | None:
    """Return the judge's single answer to all rows; None if it gives several answers, or fewer than `least` in total.

    The judge is named if a judge that detects the other half of people's answers at the rate of `threshold` would miss
    so many in succession with a probability below 1 - `level`. Rows stand in the order in which labels came.
    """
    check_level(level)
    same_length(judge=judge, people=people)
    (given, answered), (said, asked) = floats("judge", judge, low=0, high=1), floats("people", people, low=0, high=1)
    own = given[answered]
    if len(own) < least or np.ptp(own) > 0:
        return None
    both = answered & asked
    apart = np.cumsum((said[both] >= 0.5) != (own[0] >= 0.5))
    chance = (1 - threshold) ** apart
    enough = np.flatnonzero(chance < 1 - level)
    at = int(enough[0]) + 1 if len(enough) else len(apart)
    return OneAnswer(float(own[0]), len(own), at, int(apart[at - 1]) if at else 0, bool(len(enough)))


SHORTEST = 20
"""Minimum number of letters of equal texts that count as copied: anybody may write "ok" or "missing file"."""


@dataclass(frozen=True, slots=True)
class Copying:
    """A person whose answers follow the judge too closely to be their own."""

    person: str
    labels: int
    agreement: float
    expected: float
    """Rate at which other people's labels agree with the judge."""
    texts: int
    """Number of justifications that equal the judge's word for word."""
    why: str


def find_copying(
    person: Column,
    judge: Column,
    people: Column,
    *,
    said: Sequence[tuple[str | None, str | None]] | None = None,
    least: int = LEAST,
    level: float = 0.99,
) -> tuple[Copying, ...]:
    """Return the people who agree with the judge on everything although others do not, or who repeat the judge's own
    words.

    One row per label. `said`: (person's text, judge's text) per row. A person with `least` labels who agrees on all of
    them is named if chance, at the rate of the others, would cause that with a probability below 1 - `level` (shared
    among all people). A person is also named for two texts of 20 letters or more that equal the judge's except for case
    and spaces.
    """
    check_level(level)
    size = same_length(person=person, judge=judge, people=people)
    who = codes("person", text("person", person))
    (given, answered), (own, asked) = floats("judge", judge, low=0, high=1), floats("people", people, low=0, high=1)
    known = answered & asked
    same = known & (np.abs(given - own) < 1e-9)
    labels = np.bincount(who.index[known], minlength=who.size)
    agreeing = np.bincount(who.index[same], minlength=who.size)
    equal = np.zeros(size, dtype=bool)
    if said is not None:
        equal = np.array([_equal(*pair) for pair in said], dtype=bool)
    texts = np.bincount(who.index[equal], minlength=who.size)
    out = []
    for k, name in enumerate(who.names()):
        others = int(labels.sum() - labels[k])
        # One disagreement more among the others, so that a rate of 1 is not taken as certain.
        rate = (int(agreeing.sum() - agreeing[k]) + 1) / (others + 2)
        why = []
        if labels[k] >= least and agreeing[k] == labels[k] and others and rate ** labels[k] < (1 - level) / who.size:
            why.append(f"agrees with the judge on all {labels[k]} labels, others on {100 * rate:.0f} %")
        if texts[k] >= 2:
            why.append(f"{texts[k]} texts are the judge's, word for word")
        if why:
            share = agreeing[k] / labels[k] if labels[k] else 0.0
            out.append(Copying(name, int(labels[k]), float(share), rate, int(texts[k]), "; ".join(why)))
    return tuple(out)


def _equal(own: str | None, judge: str | None) -> bool:
    one, two = (re.sub(r"\s+", " ", t or "").strip().casefold() for t in (own, judge))
    return len(one) >= SHORTEST and one == two
