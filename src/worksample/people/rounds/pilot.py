"""The gate of a version of instructions: a pilot on random items that reaches 85 % pairwise agreement (RLI B.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.errors import PlanError
from worksample.people.evaluations import given
from worksample.records import GradePayload, Holistic, Pairwise, Purpose, Round, is_accepted

if TYPE_CHECKING:
    from worksample.metrics import Estimate
    from worksample.store import Store

NEEDED = 0.85
FEWEST = 5
"""Items with two votes; fewer say nothing."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """How a pilot came out."""

    round: str
    share: Estimate
    items: int
    passed: bool


def pilots(store: Store, instructions: str) -> list[Pilot]:
    """The pilots of a version, by time."""
    rounds = store.find(Round)
    mine = [r for r in rounds if r.purpose is Purpose.PILOT and _of(r) == instructions]
    return [measure(store, r) for r in mine]


def _of(round: Round) -> str:
    return round.versions.get("instructions", "")


def measure(store: Store, round: Round) -> Pilot:
    """Agreement on passing: the share of pairs of votes on one item that agree on whether it is accepted.

    Pairs of deliverables: on which one is closer to completion. Rubrics: on completion.
    """
    from worksample.metrics import PASS_FAIL, PREFERENCE, Ballots, measure_agreement
    from worksample.results.judged_rounds import passes_of

    subjects, votes, people = [], [], []
    pairs, passes = False, passes_of(store, round)
    for e in given(store, round.id):
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


def opened(store: Store, instructions: str) -> None:
    """Raises PlanError unless a pilot of this version has passed."""
    found = pilots(store, instructions)
    if any(p.passed for p in found):
        return
    where = f"instructions {instructions[:12]}"
    next = "open a round of kind pilot over random items, or say in waive_pilot why none is needed"
    if not found:
        raise PlanError("no pilot has opened this version of the instructions", where=where, next=next)
    best = max(found, key=lambda p: p.share.value or 0.0)
    raise PlanError(
        f"its best pilot reached {best.share.printed()} % agreement on {best.items} items; "
        f"{NEEDED:.0%} on at least {FEWEST} are needed",
        where=where,
        next=next,
    )
