"""What a round's evaluations resolve to. A verdict is computed, never stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from statistics import median_high, median_low

from worksample.errors import POLICY, Cause

from .base import Frozen
from .evaluation import Action, Amendment, Evaluation, Given, Holistic, Round, Rule, Target
from .grade import Grade


class Standing(StrEnum):
    DECIDED = "decided"
    UNDECIDED = "undecided"
    """Evaluations are there and disagree, or are too few."""
    UNGRADED = "ungraded"
    """No evaluation stands; `reason` says why. Never a score of 0."""


class Verdict(Frozen):
    """`score` and `passed` are None unless decided."""

    subject: str
    standing: Standing
    score: float | None = None
    passed: bool | None = None
    label: int | None = None
    """Holistic only: 1, 2 or 3; None while two votes disagree on it."""
    grade: Grade | None = None
    cause: Cause | None = None
    reason: str = ""
    evaluations: tuple[str, ...] = ()


def strikes(amendments: Iterable[Amendment]) -> dict[tuple[Target, str], Amendment]:
    """What is struck now, and by what: per target the latest amendment counts, by time and then by id."""
    state = {(a.target, a.target_id): a for a in sorted(amendments, key=lambda a: (a.at, a.id))}
    return {target: amendment for target, amendment in state.items() if amendment.action is Action.STRIKE}


def struck(amendments: Iterable[Amendment]) -> frozenset[tuple[Target, str]]:
    """What is struck now."""
    return frozenset(strikes(amendments))


def targets_of(e: Evaluation) -> list[tuple[Target, str]]:
    """What takes an evaluation away when it is struck: itself, its evaluator, what it is of, the instance."""
    keys = [(Target.EVALUATION, e.id), (Target.EVALUATOR, e.evaluator), (Target.INSTANCE, e.instance)]
    return keys + [(Target.SUBMISSION, s) for s in (e.subject, e.second) if s is not None]


def resolve(
    round: Round, evaluations: Iterable[Evaluation], amendments: Iterable[Amendment] = ()
) -> dict[str, Verdict]:
    """Verdict per subject that has at least one evaluation in `round` (pairs are resolved by `worksample.metrics`).

    The order of `evaluations` never matters. A struck evaluation, evaluator, submission or instance leaves as if it
    had never spoken; a subject all of whose evaluations are struck, failed or declined is ungraded.
    """
    out = struck(amendments)
    by_subject: dict[str, list[Evaluation]] = {}
    for evaluation in evaluations:
        if evaluation.round == round.id and evaluation.second is None:
            by_subject.setdefault(evaluation.subject, []).append(evaluation)
    return {subject: _verdict(round, subject, rows, out) for subject, rows in sorted(by_subject.items())}


OVER, KIND = "people.over", "people.kind"
"""Under these a round's `versions` say which round it looks at again, and as what: `audit`, `adjudication`, ..."""


def overrule(
    votes: Mapping[str, Verdict], audits: Mapping[str, Verdict], adjudications: Mapping[str, Verdict]
) -> dict[str, Verdict]:
    """What stands after people looked again, per subject of `votes`.

    An adjudication counts wherever it decided. Else an audit counts where it fails what the votes passed (RLI B.5 is
    against false positives); one that would pass what they failed changes nothing, for that the adjudicator has to.
    """
    out = dict(votes)
    for subject, own in votes.items():
        audit, judged = audits.get(subject), adjudications.get(subject)
        if judged is not None and judged.standing is Standing.DECIDED:
            out[subject] = judged
        elif own.passed and audit is not None and audit.passed is False:
            out[subject] = audit
    return out


def _verdict(round: Round, subject: str, rows: Sequence[Evaluation], out: frozenset[tuple[Target, str]]) -> Verdict:
    rows = sorted(rows, key=lambda e: (e.at, e.id))
    standing = [e for e in rows if not any(key in out for key in targets_of(e))]
    if not standing:
        return Verdict(subject=subject, standing=Standing.UNGRADED, reason="every evaluation of it was struck")
    given = [e for e in standing if e.outcome is Given.GIVEN]
    if not given:
        last = standing[-1]
        reason = last.reason or (POLICY[last.cause].says if last.cause else "declined")
        return Verdict(subject=subject, standing=Standing.UNGRADED, cause=last.cause, reason=reason)
    votes = [(e.payload.score, e.id) for e in given if isinstance(e.payload, Holistic)]
    if votes:
        return _holistic(round, subject, [score for score, _ in votes], tuple(id for _, id in votes))
    grades = [(e.payload, e.id) for e in given if isinstance(e.payload, Grade)]
    if not grades:
        ids = tuple(e.id for e in given)
        return Verdict(subject=subject, standing=Standing.UNDECIDED, reason="no payload that decides", evaluations=ids)
    return _graded(round, subject, [grade for grade, _ in grades], tuple(id for _, id in grades))


def _holistic(round: Round, subject: str, scores: list[int], ids: tuple[str, ...]) -> Verdict:
    """Majority on passing (score >= 2); label by majority of the values, else their median (RLI 3.4, B.2).

    Passing is decided as soon as no outstanding vote can change it; the label once a majority shares it or all are in.
    """
    if round.rule is Rule.LATEST:
        scores, ids, wanted = scores[-1:], ids[-1:], 1
    elif round.rule is Rule.TIE_BREAK:
        scores, ids = scores[:3], ids[:3]
        # Two votes that agree on passing settle it; else the third breaks the tie.
        wanted = 3 if len({s >= 2 for s in scores[:2]}) == 2 else 2
    else:
        wanted = max(round.overlap, len(scores))
    passes = sum(s >= 2 for s in scores)
    if 2 * max(passes, len(scores) - passes) <= wanted:
        reason = "too few votes" if len(scores) < wanted else "the votes are split"
        return Verdict(subject=subject, standing=Standing.UNDECIDED, reason=reason, evaluations=ids)
    passed = 2 * passes > wanted
    return Verdict(
        subject=subject,
        standing=Standing.DECIDED,
        score=float(passed),
        passed=passed,
        label=_label(scores, wanted),
        evaluations=ids,
    )


def _label(scores: list[int], wanted: int) -> int | None:
    value, count = Counter(scores).most_common(1)[0]
    if 2 * count > wanted:
        return value
    middle = median_low(scores)
    return middle if len(scores) == wanted and middle == median_high(scores) else None


def _graded(round: Round, subject: str, grades: list[Grade], ids: tuple[str, ...]) -> Verdict:
    if round.rule is Rule.MEAN:
        if len(grades) < round.overlap:
            return Verdict(subject=subject, standing=Standing.UNDECIDED, reason="too few grades", evaluations=ids)
        if any(g.undecided for g in grades):
            return Verdict(subject=subject, standing=Standing.UNGRADED, reason="a part could not be judged")
        score = sum(g.score for g in grades) / len(grades)
        passed = sum(g.full for g in grades) * 2 > len(grades)
        return Verdict(subject=subject, standing=Standing.DECIDED, score=score, passed=passed, evaluations=ids)
    grade = grades[-1]
    if grade.undecided:
        names = ", ".join(grade.undecided)
        return Verdict(
            subject=subject, standing=Standing.UNGRADED, reason=f"could not be judged: {names}", evaluations=ids[-1:]
        )
    return Verdict(
        subject=subject,
        standing=Standing.DECIDED,
        score=grade.score,
        passed=grade.full,
        grade=grade,
        evaluations=ids[-1:],
    )
