"""Checks and derived values of records."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from worksample.errors import Cause
from worksample.records import (
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Criteria,
    Criterion,
    Entry,
    Evaluation,
    EvaluationOutcome,
    Experiment,
    GradePayload,
    Holistic,
    Limits,
    Lock,
    Manifest,
    PartPayload,
    Protocol,
    Reported,
    SkipReason,
    Slot,
    Source,
    Submission,
    SubmissionPart,
    Usage,
    Value,
    canonical,
    digest_bytes,
    digest_of,
    is_accepted,
    is_full,
    now,
    partial_credit,
    strikes,
    struck,
    targets_of,
)

AT = datetime(2026, 1, 2, tzinfo=UTC)
EMPTY = digest_of([])


def evaluation(**more: Any) -> Evaluation:
    usual = {
        "id": "e", "round": "r", "subject": "s", "second": "t", "instance": "i", "evaluator": "who", "author": "a",
        "outcome": EvaluationOutcome.GIVEN, "payload": Holistic(score=2), "at": AT,
    }  # fmt: skip
    return Evaluation(**{**usual, **more})


def amendment(
    action: AmendmentAction, at: datetime = AT, id: str = "a", target: AmendmentTarget = AmendmentTarget.TRIAL
) -> Amendment:
    return Amendment(id=id, action=action, target=target, target_id="x", reason="why", author="a", at=at)


def leaf(id: str, points: float = 1, **more: Any) -> Criterion:
    return Criterion(id=id, text=id, points=points, **more)


def branch(id: str, *parts: Criterion, **more: Any) -> Criterion:
    return Criterion(id=id, text=id, parts=parts, **more)


def part(name: str, fraction: float | None = 1, **more: Any) -> PartPayload:
    return PartPayload(name=name, fraction=fraction, **more)


def test_total_tokens_are_all_read_and_written() -> None:
    usage = Usage(input_tokens=1, output_tokens=10, cache_read_tokens=100, cache_write_tokens=1000, reasoning_tokens=5)
    assert usage.tokens == 1111
    assert (Usage().tokens, Usage().calls, Usage().reasoning_tokens, Usage().cost, Usage().priced) == (
        0,
        0,
        0,
        None,
        False,
    )


def test_numbers_are_finite_and_an_id_has_sixteen_digest_characters() -> None:
    for cost in (float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            Usage(cost=cost)
    assert len(Agent.of("a", "scripted").id) == len("a@") + 16
    assert Agent.of("a", "scripted").envelope()["schema"] == 1


def test_range_has_a_middle_and_an_order() -> None:
    def value(low: float, high: float) -> Value:
        return Value(low=low, high=high, date=date(2026, 1, 1), source=Source.PAID)

    assert (value(10, 30).middle, value(7, 7).middle, value(0, 0).middle) == (20, 7, 0)
    for low, high in ((2, 1), (-1, 1)):
        with pytest.raises(ValidationError):
            value(low, high)


def test_full_and_accepted_are_defined() -> None:
    assert is_full(1) and is_full(1 - 1e-9) and is_full(sum([0.1] * 10)) and not is_full(1 - 1e-8) and not is_full(0.99)
    assert [is_accepted(vote) for vote in (1, 2, 3)] == [False, True, True]
    assert (partial_credit(0.5, False), partial_credit(1, True), partial_credit(0, False)) == (0.25, 1, 0)


def test_grade_knows_its_parts() -> None:
    grade = GradePayload(score=0.5, parts=(part("a"), part("b", parts=(part("c", 0.5), part("d", 0)))))
    assert [p.name for p in grade.leaves] == ["a", "c", "d"]
    assert [p.passed for p in grade.leaves] == [True, False, False]
    assert (grade.full, grade.partial, grade.undecided, grade.void) == (False, 0.25, (), False)
    assert (
        GradePayload(score=1).full,
        GradePayload(score=1).partial,
        GradePayload(score=0).partial,
        GradePayload(score=1).void,
    ) == (
        True,
        1,
        0,
        False,
    )


def test_parts_can_be_skipped() -> None:
    below = (part("deep"),)
    none = part("n", None, skip=SkipReason.NOT_APPLICABLE, parts=below)
    unknown = part("u", None, skip=SkipReason.CANNOT_JUDGE)
    assert [p.name for p in GradePayload(score=0, parts=(none, unknown)).leaves] == ["n", "u"]
    assert GradePayload(score=0, parts=(none, unknown, part("a"))).undecided == ("u",)
    assert GradePayload(score=0, parts=(none,)).void and not GradePayload(score=0, parts=(none, unknown)).void
    assert not unknown.passed and not none.gate
    for fraction, skip in ((None, None), (1, SkipReason.CANNOT_JUDGE)):
        with pytest.raises(ValidationError, match="give either a fraction or the reason why the part was skipped"):
            part("x", fraction, skip=skip)


@pytest.mark.parametrize("wrong", [{"score": -0.1}, {"score": 1.1}, {"score": 1, "reason": "x" * 20_001}])
def test_invalid_grade_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GradePayload(**wrong)


@pytest.mark.parametrize("wrong", [{"points": 0}, {"fraction": -0.1}, {"fraction": 1.1}, {"reason": "x" * 20_001}])
def test_invalid_part_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        part("x", **{"fraction": 0.5, **wrong})
    assert part("x", 0.5, points=0.5, reason="x" * 20_000).points == 0.5 and part("x").points == 1


def test_criteria_add_up() -> None:
    tree = Criteria(criteria=(leaf("a", 2), branch("b", leaf("c", 3), branch("d", leaf("e", 0.5)))))
    assert tree.total == 5.5 and [c.id for c in tree.leaves] == ["a", "c", "e"]
    assert Criterion(id="i", text="i", importance="critical").worth == 1 and not leaf("a").gate
    assert branch("b", leaf("c", 0.1), leaf("d", 0.2), points=0.3).worth == pytest.approx(0.3)
    with pytest.raises(ValidationError, match="it has 4 points, but its parts add up to 3"):
        branch("b", leaf("c", 1), leaf("d", 2), points=4)
    for neither_nor_both in ({}, {"points": 1, "importance": "critical"}):
        with pytest.raises(ValidationError, match="either points or an importance"):
            Criterion(id="x", text="x", **neither_nor_both)


def test_criteria_ids_are_unique_at_any_depth() -> None:
    for twice in ((leaf("a"), leaf("a")), (leaf("a"), branch("b", leaf("a"))), (branch("b", branch("c", leaf("b"))),)):
        with pytest.raises(ValidationError, match="is used twice"):
            Criteria(criteria=twice)


def test_only_the_last_criterion_implies_the_others() -> None:
    last = leaf("z", implies_others=True)
    assert Criteria(criteria=(leaf("a"), leaf("b"), last)).total == 3
    for wrong in ((last, leaf("a")), (leaf("a"), last, leaf("b")), (branch("b", last),)):
        with pytest.raises(ValidationError, match="only for the last criterion"):
            Criteria(criteria=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"payload": None}, {"outcome": EvaluationOutcome.FAILED, "cause": Cause.GRADER_CRASH},
        {"outcome": EvaluationOutcome.FAILED, "payload": None}, {"minutes": -1}, {"cost": -1}, {"reason": "x" * 20_001},
    ],
)  # fmt: skip
def test_evaluation_has_the_fields_of_its_outcome(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        evaluation(**wrong)
    assert evaluation(minutes=0, cost=0.0, reason="x" * 20_000).payload == Holistic(score=2)
    assert evaluation(outcome=EvaluationOutcome.FAILED, payload=None, cause=Cause.GRADER_CRASH).payload is None


def test_latest_amendment_counts() -> None:
    strike, later = amendment(AmendmentAction.STRIKE), AT + timedelta(seconds=1)
    key = (AmendmentTarget.TRIAL, "x")
    assert strikes([strike]) == {key: strike} and struck([strike]) == {key}
    assert struck([amendment(AmendmentAction.RESTORE, later), strike]) == frozenset()
    assert struck([amendment(AmendmentAction.STRIKE, later), amendment(AmendmentAction.RESTORE)]) == {key}
    assert struck([amendment(AmendmentAction.RESTORE, id="b"), strike]) == frozenset(), "at the same moment by id"
    with pytest.raises(ValidationError, match="only a round can be adopted, not a trial"):
        amendment(AmendmentAction.ADOPT)
    assert amendment(AmendmentAction.ADOPT, target=AmendmentTarget.ROUND).action is AmendmentAction.ADOPT


def test_amendments_strike_evaluations() -> None:
    usual = {
        (AmendmentTarget.EVALUATION, "e"),
        (AmendmentTarget.EVALUATOR, "who"),
        (AmendmentTarget.INSTANCE, "i"),
        (AmendmentTarget.ROUND, "r"),
    }
    assert set(targets_of(evaluation())) == usual | {
        (AmendmentTarget.SUBMISSION, "s"),
        (AmendmentTarget.SUBMISSION, "t"),
    }
    assert set(targets_of(evaluation(second=None))) == usual | {(AmendmentTarget.SUBMISSION, "s")}


def test_slots_and_locks_are_named_by_their_parts() -> None:
    parts = ("x", "agent", "instance", "plain", 1, 1)
    assert Slot.identify(*parts) == hashlib.sha256(canonical(list(parts))).hexdigest()[:24]
    lock = Lock(suite="s", instances=("b", "a"), protocol=Protocol.PROGRAM, sandbox="bubblewrap")
    assert lock.comparable == lock.replaced(instances=("a", "b"), sandbox="none", versions={"a": "1"}).comparable
    assert lock.comparable != lock.replaced(roles={"judge": "m"}).comparable
    assert lock.comparable != lock.replaced(protocol=Protocol.RUBRIC).comparable
    for wrong in ({"attempt": 0}, {"repeat": 0}):
        with pytest.raises(ValidationError):
            Slot(id="s", experiment="x", agent="a", instance="i", **wrong)
    for wrong in ({"repeats": 0}, {"repeats": 1, "attempts": 0}):
        with pytest.raises(ValidationError):
            Experiment(id="x", name="x", agents=(), arms=(), lock=lock, author="a", at=AT, **wrong)


def test_submissions_are_compared_by_their_folders() -> None:
    def handed_in(**parts: SubmissionPart) -> Submission:
        return Submission(
            id="s", instance="i", work=EMPTY, capture=EMPTY, origin="person", entrant="Ada", at=AT, parts=parts
        )

    one, other = SubmissionPart(manifest=EMPTY), SubmissionPart(manifest=digest_of([1]))
    assert handed_in(output=one).content == handed_in(output=one.replaced(files=3)).content
    assert len({handed_in(output=one).content, handed_in(output=other).content, handed_in(probes=one).content}) == 3
    assert (one.files, one.size) == (0, 0)
    assert Reported(cost=0, minutes=0.5) != Reported()
    for wrong in ({"cost": -1}, {"minutes": -1}):
        with pytest.raises(ValidationError):
            Reported(**wrong)


def test_manifest_finds_by_path() -> None:
    found = Manifest(entries=(Entry(path="a", size=3, blob=EMPTY), Entry(path="b", size=1 << 60)))
    assert found.find("b") == found.entries[1] and found.find("c") is None
    assert found.size == 3 and not found.entries[0].executable and Entry(path="c").size == 0


def test_limits_are_positive() -> None:
    for name in ("time", "cost", "tokens", "turns", "memory", "processes", "disk"):
        assert getattr(Limits(**{name: 1}), name) == 1
        with pytest.raises(ValidationError):
            Limits(**{name: 0})
    assert (Limits().memory, Limits().disk, Limits().processes) == (2 * 1024**3, 1024**3, 256)


def test_digests_and_times_are_checked() -> None:
    assert digest_bytes(b"x") == hashlib.sha256(b"x").hexdigest()
    assert digest_of({"b": 1, "a": None}) == hashlib.sha256(b'{"a":null,"b":1}').hexdigest()
    before = datetime.now(UTC)
    moment = now()
    assert before.replace(microsecond=before.microsecond // 1000 * 1000) <= moment <= datetime.now(UTC)
    assert moment.microsecond % 1000 == 0
