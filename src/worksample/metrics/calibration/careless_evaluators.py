"""Tests for careless evaluators: a judge that favours an agent, a judge that gives the same answer to everything, and a
person who copies the judge.
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
"""Number of labels at which the test is made for the first time. The number of labels doubles from each test to the
next.
"""


@dataclass(frozen=True, slots=True)
class Kindness:
    """A judge's bias for one agent: how much more the judge gives this agent than other agents whose work people judged
    equally good.

    `named` is true if chance does not explain the bias.
    """

    agent: str
    excess: float
    """Mean of the judge's answers on this agent's labelled work, minus their mean on other agents' work with the same
    answers by people.
    """
    p: float
    """Two-sided p value of the test that named the agent. If no test named the agent, the p value of the last test."""
    named: bool
    labels: int
    """Number of labels, on work of all agents, that the test used."""
    own: int
    """Number of labels, among those that the test used, on this agent's work."""

    @property
    def finding_text(self) -> str:
        """The finding about this agent as text for a report."""
        if not self.named:
            return f"nothing beyond chance in {self.labels} labels ({self.own} of its own)"
        way = "kinder" if self.excess > 0 else "harsher"
        more = f"{100 * abs(self.excess):.0f} points"
        return f"{way} to {self.agent} by {more}, shown by {self.labels} labels ({self.own} of its own)"


def kindness_of(
    judge: Column, people: Column, agent: Column, *, order: Column | None = None, level: float = 0.95
) -> tuple[Kindness, ...]:
    """Test for each agent whether the judge favours or disfavours it compared with all other agents (Mantel 1963; for
    passes Mantel and Haenszel 1959).

    A better agent gets higher answers from an honest judge too. Therefore only rows with equal answers by people are
    compared with each other. Rows without a label or without an answer of the judge are left out.

    The test is made after 20, 40, 80, ... labels and after the last label. Labels are taken in the order of the column
    `order`, or in the order of rows if there is none. Test number k uses (1 - level) / (k (k + 1)) of the error
    probability, divided among the agents not yet named (Holm 1979). So the probability that a fair judge is ever
    accused is at most 1 - level.
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
    """Return (excess, p, named) for each agent.

    A named agent is left out of the comparison for the other agents. Otherwise a judge that favours one agent would
    seem to disfavour all others.
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
    """Return the excess and the two-sided p of each agent.

    For each answer by people, the agent's sum of the judge's answers is compared with the sum expected if the judge's
    answers were shuffled among the rows with that answer.
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
    """A judge's single answer to everything. `named` is true if chance does not explain that the judge never gave
    another answer.
    """

    answer: float
    rows: int
    labels: int
    """Number of people's answers received up to the one that named the judge. If the judge was not named, the number of
    all answers by people.
    """
    otherwise: int
    """Number of people's answers, among the counted ones, that are the opposite of the judge's single answer."""
    named: bool

    @property
    def finding_text(self) -> str:
        """The finding about this judge as text for a report."""
        what = "passes" if self.answer >= 0.5 else "fails"
        return (
            f"{what} all {self.rows} items, although people disagree on {self.otherwise} of them, "
            f"shown by {self.labels} labels"
        )


def one_answer_of(
    judge: Column, people: Column, *, threshold: float = 0.8, least: int = LEAST, level: float = 0.99
) -> OneAnswer | None:
    """Test whether a judge gives the same answer to everything.

    Return None if the judge gives several different answers, or fewer than `least` answers in total. The judge is named
    if it missed too many of people's opposite answers in succession: a judge that detects them at the rate `threshold`
    would miss so many with a probability below 1 - `level`. Rows must be in the order in which the labels arrived.
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
"""Minimum number of letters in a text before an equal text counts as copied. Anybody may write a short text such as
"missing file".
"""


@dataclass(frozen=True, slots=True)
class Copying:
    """A person whose answers follow the judge so closely that they were probably copied."""

    person: str
    labels: int
    agreement: float
    expected: float
    """Share of the other people's labels that agree with the judge."""
    texts: int
    """Number of the person's justifications that repeat the judge's justification of the same item."""
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
    """Return the people who probably copy the judge's answers or the judge's texts.

    The columns have one row per label. `said` contains for each row the person's text and the judge's text. A person
    with at least `least` labels who always agrees with the judge is named if this is improbable at the rate at which
    other people agree: its probability must be below 1 - `level`, divided by the number of people. A person is also
    named for two texts of 20 letters or more that equal the judge's text except for case and spaces.
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
