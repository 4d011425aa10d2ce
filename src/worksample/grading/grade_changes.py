"""Differences between the results of two rounds, submission by submission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.records import (
    Amendment,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Pairwise,
    PairwiseChoice,
    PartPayload,
    Protocol,
    Round,
    Standing,
    Submission,
    Verdict,
    struck,
)
from worksample.results.pair_sampling import key_of

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A submission whose result differs between two rounds. A score is None if the round did not decide it."""

    subject: str
    instance: str
    entrant: str
    old: float | None
    new: float | None
    old_standing: Standing | None
    """Standing in the old round; None if the old round has no evaluation of the submission."""
    new_standing: Standing | None
    reasons: tuple[str, ...]
    """One text for each difference in standing, score or parts."""


def find_grade_changes(store: Store, old: Round, new: Round) -> list[GradeChange]:
    """Return the submissions whose result differs between the rounds `old` and `new`, sorted by id.

    A pair with different votes is listed once, under the submission whose id sorts first, and without scores.
    """
    from worksample.results.verdicts import resolve

    if new.protocol is Protocol.PAIRWISE:
        return _pair_changes(store, old, new)
    amendments = store.find(Amendment)
    before, after = (resolve(r, store.find(Evaluation, round=r.id), amendments) for r in (old, new))
    found = []
    for subject in sorted({*before, *after}):
        first, second = before.get(subject), after.get(subject)
        reasons = _differences(first, second)
        if not reasons:
            continue
        submission = store.get(Submission, subject)
        found.append(
            GradeChange(
                subject=subject,
                instance=submission.instance,
                entrant=submission.entrant,
                old=first.score if first else None,
                new=second.score if second else None,
                old_standing=first.standing if first else None,
                new_standing=second.standing if second else None,
                reasons=tuple(reasons),
            )
        )
    return found


Votes = list[tuple[str, str]]
"""Votes on a pair as (completion, quality), each `first`, `equal` or `second`. The list is sorted."""


def votes_of_pairs(store: Store, round: Round) -> dict[str, Votes]:
    """Return the valid votes on each pair of a round, by the pair's key (`key_of`). In these votes, `first` is the
    submission whose id sorts first.
    """
    out = struck(store.find(Amendment))
    found: dict[str, Votes] = {}
    for e in store.find(Evaluation, round=round.id, outcome=EvaluationOutcome.GIVEN):
        gone = {(AmendmentTarget.EVALUATION, e.id), (AmendmentTarget.EVALUATOR, e.evaluator)} & out
        if gone or e.second is None or not isinstance(e.payload, Pairwise):
            continue
        sides = (e.payload.completion, e.payload.quality)
        completion, quality = sides if e.subject < e.second else (_TURNED[side] for side in sides)
        found.setdefault(key_of(e.subject, e.second), []).append((completion.value, quality.value))
    return {key: sorted(votes) for key, votes in found.items()}


_TURNED = {
    PairwiseChoice.FIRST: PairwiseChoice.SECOND,
    PairwiseChoice.EQUAL: PairwiseChoice.EQUAL,
    PairwiseChoice.SECOND: PairwiseChoice.FIRST,
}


def _pair_changes(store: Store, old: Round, new: Round) -> list[GradeChange]:
    before, after = votes_of_pairs(store, old), votes_of_pairs(store, new)
    found = []
    for key in sorted({*before, *after}):
        was, is_ = before.get(key), after.get(key)
        if was == is_:
            continue
        one, two = (store.get(Submission, id) for id in key.split("\x1f"))
        reason = f"against {two.entrant}: {_describe_votes(was)} before, {_describe_votes(is_)} now"
        stood, stands = (None if votes is None else Standing.DECIDED for votes in (was, is_))
        found.append(GradeChange(one.id, one.instance, one.entrant, None, None, stood, stands, (reason,)))
    return found


def _describe_votes(votes: Votes | None) -> str:
    said = dict.fromkeys(f"completion {completion}, quality {quality}" for completion, quality in votes or ())
    return " and ".join(said) or "nothing"


def _differences(first: Verdict | None, second: Verdict | None) -> list[str]:
    if first is None or second is None:
        return ["graded in one round only"]
    found = []
    if first.standing != second.standing:
        found.append(f"{first.standing} before, {second.standing} now: {second.reason or first.reason}".rstrip(": "))
    if first.score != second.score:
        found.append(f"score {_format_score(first.score)} before, {_format_score(second.score)} now")
    if first.grade is not None and second.grade is not None:
        found += _parts(first.grade, second.grade)
    return found


def _parts(first: GradePayload, second: GradePayload) -> list[str]:
    before, after = _flatten_parts(first.parts), _flatten_parts(second.parts)
    found = []
    for name in dict.fromkeys([*before, *after]):
        a, b = before.get(name), after.get(name)
        if a is None or b is None:
            found.append(f"{name}: {'is new' if a is None else 'is gone'}")
        elif (a.fraction, a.points) != (b.fraction, b.points):
            old, new = _format_score(a.fraction), _format_score(b.fraction)
            found.append(f"{name}: {old} of {a.points:g} before, {new} of {b.points:g} now")
    return found


def _flatten_parts(parts: tuple[PartPayload, ...]) -> dict[str, PartPayload]:
    found: dict[str, PartPayload] = {}
    for part in parts:
        found |= {part.name: part} | _flatten_parts(part.parts)
    return found


def _format_score(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.4g}"
