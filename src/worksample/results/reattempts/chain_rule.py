"""The next step of a chain of attempts: a pure function of the chain's rule and state (UpBench, Algorithm 1).

It holds no state: the same question gets the same answer, so a kill between an answer and its commit loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from worksample.records import Chain


class AttemptVerdict(StrEnum):
    """Of one attempt, under the experiment's first protocol."""

    OPEN = "open"
    """No finished trial stands."""
    WAITS = "waits"
    """Nothing is decided, for whatever reason."""
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One attempt of a chain, as it stands now."""

    slot: str
    verdict: AttemptVerdict
    trial: str | None = None
    """The one that stands."""
    submission: str | None = None
    fed: str | None = None
    """The submission that the trial was given."""
    score: float | None = None
    dollars: float | None = 0.0
    """Spent on it, every try and every grading; None: something of it has no price."""
    hours: float | None = 0.0
    """Of people who graded it; None: some evaluation does not say."""
    said: bool = True
    """Whether there is what the next attempt is to be given."""


class Next(StrEnum):
    RUN = "run"
    """The slot named is planned and may run."""
    COMMIT = "commit"
    """Another attempt is to be planned after the slot named."""
    WITHDRAW = "withdraw"
    """The trial of the slot named was given work that does not stand any more."""
    WAIT = "wait"
    END = "end"


class Why(StrEnum):
    """Why a chain waits or has ended."""

    VERDICT = "its latest attempt has no verdict"
    FEEDBACK = "the feedback for the next attempt is not given yet"
    PASSED = "passed"
    ATTEMPTS = "all its attempts are made"
    BUDGET = "its budget is spent"
    UNKNOWN = "what was spent is not known, and it has a budget"
    NO_IMPROVEMENT = "the latest attempt scored no more than the one before"
    NOTHING = ""


@dataclass(frozen=True, slots=True)
class ChainStep:
    next: Next
    slot: str
    why: Why = Why.NOTHING


def next_step(rule: Chain, links: Sequence[ChainLink]) -> ChainStep:
    """Return the next step of a chain whose slots (the first attempt's and those committed) are `links`.

    A committed slot is run, whatever the budget says now, as long as all earlier attempts stand as failed and feedback
    for it exists.
    """
    for before, link in pairwise(links):
        if link.trial is not None and link.fed != before.submission:
            return ChainStep(Next.WITHDRAW, link.slot)
    said = True
    for link in links:
        match link.verdict:
            case AttemptVerdict.OPEN:
                return ChainStep(Next.RUN, link.slot) if said else ChainStep(Next.WAIT, link.slot, Why.FEEDBACK)
            case AttemptVerdict.WAITS:
                return ChainStep(Next.WAIT, link.slot, Why.VERDICT)
            case AttemptVerdict.PASSED:
                return ChainStep(Next.END, link.slot, Why.PASSED)
            case AttemptVerdict.FAILED:
                said = link.said
    last = links[-1]
    if why := _why_ended(rule, links):
        return ChainStep(Next.END, last.slot, why)
    return ChainStep(Next.COMMIT, last.slot) if said else ChainStep(Next.WAIT, last.slot, Why.FEEDBACK)


def _why_ended(rule: Chain, links: Sequence[ChainLink]) -> Why:
    """Return why a chain whose attempts all failed goes no further; empty if it goes on."""
    if len(links) > rule.reattempts:
        return Why.ATTEMPTS
    budgets = ((rule.dollars, [link.dollars for link in links]), (rule.hours, [link.hours for link in links]))
    for budget, spent in budgets:
        if budget is None:
            continue
        known = [one for one in spent if one is not None]
        if sum(known) >= budget:
            return Why.BUDGET
        if len(known) < len(spent):
            return Why.UNKNOWN
    if rule.improving and len(links) > 1:
        before, last = links[-2].score, links[-1].score
        if before is not None and last is not None and last <= before:
            return Why.NO_IMPROVEMENT
    return Why.NOTHING
