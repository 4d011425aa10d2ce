"""The next step of a chain of attempts, computed only from the rule and the state of the chain (UpBench, Algorithm 1).

This module stores nothing, and equal states give equal steps. If the program is stopped before a step is committed, the
step is computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from worksample.records import Chain


class AttemptVerdict(StrEnum):
    """The verdict on one attempt, under the experiment's first protocol."""

    OPEN = "open"
    """The slot has no valid finished trial."""
    WAITS = "waits"
    """The verdict is not decided yet, for any reason."""
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """An attempt of a chain, with its trial, verdict and spending."""

    slot: str
    verdict: AttemptVerdict
    trial: str | None = None
    """Id of the slot's valid finished trial; None if there is none."""
    submission: str | None = None
    earlier_submission: str | None = None
    """Id of the earlier submission that the agent received; None for a first attempt."""
    score: float | None = None
    dollars: float | None = 0.0
    """US dollars spent on this attempt, over all tries and gradings. None if a part of the cost is unknown."""
    hours: float | None = 0.0
    """Hours of people who graded this attempt. None if an evaluation does not state its time."""
    has_feedback: bool = True
    """True if the feedback for the next attempt exists."""


class ChainAction(StrEnum):
    RUN = "run"
    """Run the slot of the step, which is already planned."""
    COMMIT = "commit"
    """Plan another attempt after the slot of the step."""
    WITHDRAW = "withdraw"
    """Withdraw the trial of the slot of the step, because the earlier work that its agent received is no longer
    valid.
    """
    WAIT = "wait"
    END = "end"


class ChainReason(StrEnum):
    """Reason why a chain waits or has stopped."""

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
    """Return the next step of a chain. links: the attempts of the chain that are planned or made, in order.

    A planned slot is run even if the budget is spent, as long as all earlier attempts have failed and the feedback
    exists.
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
    """Return why a chain in which all attempts failed stops; empty if another attempt follows."""
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
