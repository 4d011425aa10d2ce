"""The next step of a chain of attempts: a pure function of the chain's rule and state (UpBench, Algorithm 1).

It keeps no state: the same question gets the same answer, so a kill between an answer and its commit loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from worksample.records import Chain


class AttemptVerdict(StrEnum):
    """Verdict on one attempt, under the experiment's first protocol."""

    OPEN = "open"
    """The slot has no finished live trial."""
    WAITS = "waits"
    """Nothing is decided yet, for any reason."""
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """An attempt of a chain in its current state."""

    slot: str
    verdict: AttemptVerdict
    trial: str | None = None
    """The slot's live trial."""
    submission: str | None = None
    earlier_submission: str | None = None
    """The earlier submission that the trial received."""
    score: float | None = None
    dollars: float | None = 0.0
    """US dollars spent on it, for every try and every grading; None if a part has no price."""
    hours: float | None = 0.0
    """Hours of people who graded it; None if an evaluation does not state them."""
    has_feedback: bool = True
    """Whether the feedback for the next attempt exists."""


class ChainAction(StrEnum):
    RUN = "run"
    """Run the named slot, which is already planned."""
    COMMIT = "commit"
    """Plan another attempt after the named slot."""
    WITHDRAW = "withdraw"
    """Withdraw the trial of the named slot: the work that it received is no longer in force."""
    WAIT = "wait"
    END = "end"


class ChainReason(StrEnum):
    """Reason why a chain waits or has ended."""

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
    next: ChainAction
    slot: str
    why: ChainReason = ChainReason.NOTHING


def next_step(rule: Chain, links: Sequence[ChainLink]) -> ChainStep:
    """Return the next step of a chain whose slots (the first attempt's and those committed) are `links`.

    A committed slot is run, regardless of the budget, as long as all earlier attempts still count as failed and
    feedback for it exists.
    """
    for before, link in pairwise(links):
        if link.trial is not None and link.earlier_submission != before.submission:
            return ChainStep(ChainAction.WITHDRAW, link.slot)
    said = True
    for link in links:
        match link.verdict:
            case AttemptVerdict.OPEN:
                return (
                    ChainStep(ChainAction.RUN, link.slot)
                    if said
                    else ChainStep(ChainAction.WAIT, link.slot, ChainReason.FEEDBACK)
                )
            case AttemptVerdict.WAITS:
                return ChainStep(ChainAction.WAIT, link.slot, ChainReason.VERDICT)
            case AttemptVerdict.PASSED:
                return ChainStep(ChainAction.END, link.slot, ChainReason.PASSED)
            case AttemptVerdict.FAILED:
                said = link.has_feedback
    last = links[-1]
    if why := _why_ended(rule, links):
        return ChainStep(ChainAction.END, last.slot, why)
    return (
        ChainStep(ChainAction.COMMIT, last.slot)
        if said
        else ChainStep(ChainAction.WAIT, last.slot, ChainReason.FEEDBACK)
    )


def _why_ended(rule: Chain, links: Sequence[ChainLink]) -> ChainReason:
    """Return why a chain whose attempts all failed is not continued; empty if it is."""
    if len(links) > rule.reattempts:
        return ChainReason.ATTEMPTS
    budgets = ((rule.dollars, [link.dollars for link in links]), (rule.hours, [link.hours for link in links]))
    for budget, spent in budgets:
        if budget is None:
            continue
        known = [one for one in spent if one is not None]
        if sum(known) >= budget:
            return ChainReason.BUDGET
        if len(known) < len(spent):
            return ChainReason.UNKNOWN
    if rule.improving and len(links) > 1:
        before, last = links[-2].score, links[-1].score
        if before is not None and last is not None and last <= before:
            return ChainReason.NO_IMPROVEMENT
    return ChainReason.NOTHING
