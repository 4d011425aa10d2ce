"""Resolution of evaluations to a verdict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import Cause
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Holistic,
    PartPayload,
    Payload,
    Protocol,
    ResolutionRule,
    Round,
    SkipReason,
    Standing,
    Verdict,
    struck,
)
from worksample.results.verdicts import resolve

START = datetime(2026, 1, 1, tzinfo=UTC)


def round_of(rule: ResolutionRule = ResolutionRule.LATEST, overlap: int = 1) -> Round:
    return Round(id="r", protocol=Protocol.HOLISTIC, rule=rule, overlap=overlap, author="a", at=START)


def said(payload: Payload | None, minute: int = 0, **rest: Any) -> Evaluation:
    told: dict[str, Any] = {"outcome": EvaluationOutcome.GIVEN if payload else EvaluationOutcome.FAILED}
    if payload is None:
        told["cause"] = Cause.GRADER_CRASH
    fixed = {
        "id": f"e{minute}",
        "round": "r",
        "subject": "s",
        "instance": "i",
        "evaluator": f"v{minute}",
        "author": "a",
    }
    return Evaluation(**{**fixed, **told, "payload": payload, "at": START + timedelta(minutes=minute), **rest})


def votes(*scores: Any) -> list[Evaluation]:
    return [said(Holistic(score=s), i) for i, s in enumerate(scores)]


def strike(
    target: AmendmentTarget, id: str, minute: int = 0, action: AmendmentAction = AmendmentAction.STRIKE
) -> Amendment:
    at = START + timedelta(minutes=minute)
    return Amendment(id=f"a{minute}", action=action, target=target, target_id=id, reason="x", author="a", at=at)


def verdict(round: Round, evaluations: list[Evaluation], amendments: list[Amendment] | None = None) -> Verdict:
    return resolve(round, evaluations, amendments or [])["s"]


payloads = st.one_of(
    st.builds(Holistic, score=st.sampled_from([1, 2, 3])),
    st.none(),
)
grades = st.builds(GradePayload, score=st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@given(st.data(), st.sampled_from(ResolutionRule), st.integers(1, 3), st.booleans())
def test_order_of_arrival_never_matters(data: st.DataObject, rule: ResolutionRule, overlap: int, graded: bool) -> None:
    made = data.draw(st.lists(grades if graded else payloads, min_size=1, max_size=5))
    evaluations = [said(p, i % 3, id=f"e{i}", subject=f"s{i % 2}") for i, p in enumerate(made)]
    targets = [
        (AmendmentTarget.EVALUATION, "e0"),
        (AmendmentTarget.EVALUATOR, "v1"),
        (AmendmentTarget.SUBMISSION, "s1"),
    ]
    picks = st.tuples(st.sampled_from(targets), st.sampled_from([AmendmentAction.STRIKE, AmendmentAction.RESTORE]))
    amendments = [
        strike(t, id, i, action) for i, ((t, id), action) in enumerate(data.draw(st.lists(picks, max_size=4)))
    ]
    first = resolve(round_of(rule, overlap), evaluations, amendments)
    again = resolve(
        round_of(rule, overlap), data.draw(st.permutations(evaluations)), data.draw(st.permutations(amendments))
    )
    assert first == again
    for outcome in first.values():
        decided = outcome.standing is Standing.DECIDED
        assert (outcome.score is not None) == decided == (outcome.passed is not None)
        assert decided or outcome.reason


@pytest.mark.parametrize(
    ("scores", "standing", "passed", "label"),
    [
        ((2,), Standing.UNDECIDED, None, None),
        ((1, 1), Standing.DECIDED, False, 1),
        ((2, 2), Standing.DECIDED, True, 2),
        ((2, 3), Standing.DECIDED, True, None),
        ((1, 2), Standing.UNDECIDED, None, None),
        ((1, 2, 2), Standing.DECIDED, True, 2),
        ((1, 3, 1), Standing.DECIDED, False, 1),
        ((1, 3, 2), Standing.DECIDED, True, 2),
        ((1, 3, 1, 3, 3), Standing.DECIDED, False, 1),
    ],
)
def test_two_votes_and_a_tie_break_decide(
    scores: tuple[int, ...], standing: Standing, passed: bool | None, label: int | None
) -> None:
    """RLI B.2: two votes, a third where they disagree; later ones are not asked for."""
    found = verdict(round_of(ResolutionRule.TIE_BREAK, 2), votes(*scores))
    assert (found.standing, found.passed, found.label) == (standing, passed, label)


@pytest.mark.parametrize(
    ("scores", "standing", "passed", "label"),
    [
        ((2,), Standing.UNDECIDED, None, None),
        ((1, 2), Standing.UNDECIDED, None, None),
        ((2, 2), Standing.DECIDED, True, 2),
        ((1, 1), Standing.DECIDED, False, 1),
        ((2, 3), Standing.DECIDED, True, None),
        ((1, 1, 2), Standing.DECIDED, False, 1),
        ((1, 2, 3), Standing.DECIDED, True, 2),
        ((3, 3, 1), Standing.DECIDED, True, 3),
        ((1, 1, 2, 2), Standing.UNDECIDED, None, None),
    ],
)
def test_majority_of_three_votes_decides(
    scores: tuple[int, ...], standing: Standing, passed: bool | None, label: int | None
) -> None:
    """RLI 3.4."""
    found = verdict(round_of(ResolutionRule.MAJORITY, 3), votes(*scores))
    assert (found.standing, found.passed, found.label) == (standing, passed, label)


def test_struck_vote_reopens_and_restored_one_closes_the_question() -> None:
    round, three = round_of(ResolutionRule.MAJORITY, 3), votes(1, 2, 2)
    assert verdict(round, three).passed is True
    out = [strike(AmendmentTarget.EVALUATION, "e2", 1)]
    assert verdict(round, three, out).standing is Standing.UNDECIDED
    back = [*out, strike(AmendmentTarget.EVALUATION, "e2", 2, AmendmentAction.RESTORE)]
    assert verdict(round, three, back) == verdict(round, three)


@pytest.mark.parametrize(
    ("target", "id"),
    [
        (AmendmentTarget.EVALUATION, "e0"),
        (AmendmentTarget.EVALUATOR, "v0"),
        (AmendmentTarget.SUBMISSION, "s"),
        (AmendmentTarget.INSTANCE, "i"),
    ],
)
def test_striking_everything_leaves_the_subject_ungraded(target: AmendmentTarget, id: str) -> None:
    found = verdict(round_of(), [said(GradePayload(score=1.0))], [strike(target, id)])
    assert (found.standing, found.score, found.passed) == (Standing.UNGRADED, None, None)
    assert "struck" in found.reason


def test_latest_amendment_counts_and_equal_times_go_by_id() -> None:
    first, second = (
        strike(AmendmentTarget.TRIAL, "t", 0),
        strike(AmendmentTarget.TRIAL, "t", 1, AmendmentAction.RESTORE),
    )
    assert struck([second, first]) == frozenset()
    same = second.replaced(id="a", at=first.at)
    assert struck([first, same]) == {(AmendmentTarget.TRIAL, "t")}


def test_graders_crash_is_ungraded_with_its_reason_and_never_zero() -> None:
    found = verdict(round_of(), [said(None, reason="line 3: boom")])
    assert (found.standing, found.score, found.cause) == (Standing.UNGRADED, None, Cause.GRADER_CRASH)
    assert found.reason == "line 3: boom"


def test_later_failure_does_not_replace_an_earlier_grade() -> None:
    found = verdict(round_of(), [said(GradePayload(score=0.5), 0), said(None, 1)])
    assert (found.standing, found.score) == (Standing.DECIDED, 0.5)


def test_latest_grade_counts() -> None:
    found = verdict(round_of(), [said(GradePayload(score=1.0), 0), said(GradePayload(score=0.0), 1)])
    assert (found.score, found.passed, found.evaluations) == (0.0, False, ("e1",))


def test_unjudgeable_part_leaves_it_ungraded() -> None:
    grade = GradePayload(score=0.5, parts=(PartPayload(name="look", skip=SkipReason.CANNOT_JUDGE),))
    found = verdict(round_of(), [said(grade)])
    assert (found.standing, found.score) == (Standing.UNGRADED, None)
    assert "look" in found.reason


def test_means_need_enough_grades() -> None:
    round = round_of(ResolutionRule.MEAN, 2)
    assert verdict(round, [said(GradePayload(score=1.0), 0)]).standing is Standing.UNDECIDED
    found = verdict(round, [said(GradePayload(score=1.0), 0), said(GradePayload(score=0.5), 1)])
    assert (found.score, found.passed) == (0.75, False)


def test_pairs_and_other_rounds_are_ignored() -> None:
    pair = said(GradePayload(score=1.0), 0, second="z")
    other = said(GradePayload(score=1.0), 1, round="q")
    assert resolve(round_of(), [pair, other]) == {}
