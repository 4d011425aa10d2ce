"""The pilot gate: instructions may be used after a pilot on random items reaches 85 % pairwise agreement (RLI B.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.errors import PlanError
from worksample.people.unstruck_evaluations import standing_evaluations
from worksample.records import GradePayload, Holistic, Pairwise, Purpose, Round, is_accepted

if TYPE_CHECKING:
    from worksample.metrics import Estimate
    from worksample.store import Store

NEEDED = 0.85
FEWEST = 5
"""Fewest items with two votes that a pilot needs."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """The result of a pilot."""

    round: str
    share: Estimate
    items: int
    passed: bool


def pilots(store: Store, instructions: str) -> list[Pilot]:
    """List the pilots of a version of instructions, by time."""
    rounds = store.find(Round)
    mine = [r for r in rounds if r.purpose is Purpose.PILOT and _instructions_of(r) == instructions]
    return [measure_pilot(store, r) for r in mine]


def _instructions_of(round: Round) -> str:
    return round.versions.get("instructions", "")


def measure_pilot(store: Store, round: Round) -> Pilot:
    """Measure the share of vote pairs on one item that agree on whether it is accepted.

    For pairs of deliverables: on which is closer to completion. For rubrics: on completion.
    """
    from worksample.metrics import PASS_FAIL, PREFERENCE, Ballots, measure_agreement
    from worksample.results.judged_rounds import passes_of

    subjects, votes, people = [], [], []
    pairs, passes = False, passes_of(store, round)
    for e in standing_evaluations(store, round.id):
        match e.payload:
            case Holistic(score=score):
                vote = float(is_accepted(score))
            case GradePayload() if e.id in passes:
                vote = float(passes[e.id])
            case Pairwise(completion=side):
                toward = {"first": 1.0, "equal": 0.5, "second": 0.0}[side]
                vote, pairs = toward if e.subject < (e.second or "") else 1 - toward, True
            case _:
                continue
        subjects.append(" ".join(sorted((e.subject, e.second or ""))))
        votes.append(vote)
        people.append(e.evaluator)
    scale = PREFERENCE if pairs else PASS_FAIL
    share = measure_agreement(Ballots(subjects, votes, people), scale).share
    items = sum(subjects.count(s) > 1 for s in set(subjects))
    good = share.value is not None and items >= FEWEST and share.value >= NEEDED - 1e-9
    return Pilot(round.id, share, items, good)


def require_passed_pilot(store: Store, instructions: str) -> None:
    """Raise PlanError unless a pilot of this version has passed."""
    found = pilots(store, instructions)
    if any(p.passed for p in found):
        return
    where = f"instructions {instructions[:12]}"
    next = "open a round of kind pilot over random items, or say in waive_pilot why none is needed"
    if not found:
        raise PlanError("no pilot has passed with this version of the instructions", where=where, next=next)
    best = max(found, key=lambda p: p.share.value or 0.0)
    raise PlanError(
        f"the best pilot with these instructions reached {best.share.format_value()} % agreement on "
        f"{best.items} items; "
        f"{NEEDED:.0%} on at least {FEWEST} are needed",
        where=where,
        next=next,
    )
