"""A grade, or its failure, from a grader's end and result."""

from __future__ import annotations

import json

import pytest

from worksample.box import BoxConfig, Completed
from worksample.errors import POLICY, Cause, GraderError, SandboxError
from worksample.files import HashSink
from worksample.grading.grading_boxes import GraderLimits, GradingBoxes
from worksample.grading.run_grader import TAIL, GraderEnd, _case, _command, _record_of, grade_from_result
from worksample.records import Criteria, Criterion, Grading, Protocol, Usage
from worksample.sandboxes.request_broker import RequestBroker
from worksample.sandboxes.starved_programs import require_time

LIMITS = GraderLimits(timeout=7.5, memory=1 << 20)
GRADING = Grading(
    protocol=Protocol.PROGRAM,
    reference="0" * 64,
    grader="0" * 64,
    criteria=Criteria(criteria=(Criterion(id="right", text="-", points=1),)),
    settings={"a": 1, "b": 1},
    instance_settings={"b": 2},
)
RIGHT = {"grade": {"score": 1.0, "parts": [{"name": "right", "points": 1, "fraction": 1.0}]}}
NONE = {"grade": {"score": 2.0}}


def done(code: int = 0, err: bytes = b"", **how: bool) -> Completed:
    return Completed(code, b"", err, **how)


def data(result: object) -> bytes:
    return json.dumps(result).encode()


@pytest.mark.parametrize("code", [0, 1])
def test_valid_result_counts_whatever_the_exit_code(code: int) -> None:
    assert grade_from_result(done(code), data(RIGHT), GRADING, LIMITS).score == 1.0


@pytest.mark.parametrize(
    ("ended", "written", "cause", "says"),
    [
        (done(truncated=True), data(RIGHT), Cause.GRADER_OUTPUT, "printed more than is allowed"),
        (done(oom=True), data(RIGHT), Cause.GRADER_MEMORY, "more than 1,048,576 bytes of memory"),
        (done(timed_out=True), data(RIGHT), Cause.GRADER_TIME, "did not end within 7.5 seconds"),
        (done(3, b"why\xff"), None, Cause.GRADER_CRASH, "exit code 3 and without a result\nwhy"),
        (done(), None, Cause.GRADER_MALFORMED, "the grader ended without a result"),
        (done(), b"[" * 100_000, Cause.GRADER_MALFORMED, "is not a grade"),
        (done(), data([1]), Cause.GRADER_MALFORMED, "is not a grade"),
        (done(), data({}), Cause.GRADER_MALFORMED, "is not a grade: 'grade'"),
        (done(), data(NONE), Cause.GRADER_MALFORMED, "is not a grade"),
        (done(), data({"grade": {"score": 1.0, "parts": [{"name": "other", "points": 1, "fraction": 1.0}]}}),
         Cause.GRADER_MALFORMED, "differ in other, right"),
        (done(), data({"failed": "grader.lacks", "reason": "no such module"}), Cause.GRADER_LACKS, "no such module"),
        (done(), data({"failed": "what is this"}), Cause.GRADER_MALFORMED, "is not a grade"),
    ],
)  # fmt: skip
def test_other_ends_have_their_causes(ended: Completed, written: bytes | None, cause: Cause, says: str) -> None:
    with pytest.raises(GraderError) as caught:
        grade_from_result(ended, written, GRADING, LIMITS)
    assert (caught.value.cause or Cause.GRADER_CRASH) is cause
    assert says in caught.value.what


async def test_output_ends_are_recorded_and_empty_output_is_not() -> None:
    broker = RequestBroker({})
    loud = Completed(2, b"x" + b"y" * TAIL, b"", seconds=1.23456)
    kept = await _record_of(loud, broker, HashSink())
    assert kept == {"exit": 2, "seconds": 1.235, "stdout": HashSink().put(b"y" * TAIL)}
    broker.records.append({"junk": "x"})
    assert await _record_of(None, broker, HashSink()) == {"runs": [{"junk": "x"}]}


def test_grader_gets_its_inputs() -> None:
    case = _case(GRADING)
    assert (case["entry"], case["settings"]) == ("grade.py", {"a": 1, "b": 2})
    assert case["criteria"] == GRADING.criteria.plain()
    words = _command(GradingBoxes(BoxConfig(), BoxConfig(), {"output": "/task/output"}))
    assert "output=/task/output" in words
    assert any(word.startswith("result=") for word in words) and any(word.startswith("broker=") for word in words)


def test_limits_come_from_the_manifest_or_defaults() -> None:
    assert GraderLimits.of({}) == GraderLimits(120.0, 2 << 30)
    assert GraderLimits.of({"timeout": 7, "memory": 1 << 20}) == GraderLimits(7.0, 1 << 20)


def test_starved_grader_is_not_a_slow_grader() -> None:
    late = Completed(-9, b"", b"", timed_out=True, seconds=2400.0, starved=True, counted=31.0)
    with pytest.raises(GraderError, match="31 s of processor time in 2400") as caught:
        grade_from_result(late, None, GRADING, GraderLimits())
    assert caught.value.cause is Cause.GRADER_SANDBOX and POLICY[Cause.GRADER_SANDBOX].retry
    with pytest.raises(SandboxError, match="too busy"):
        require_time(late, "verifier")
    require_time(Completed(-9, b"", b"", timed_out=True), "verifier")


def test_costs_of_judges_are_added_without_unknown_ones() -> None:
    assert GraderEnd().cost is None
    assert GraderEnd(usage={"a": Usage(calls=1)}).cost is None
    assert GraderEnd(usage={"a": Usage(calls=1, cost=0.5), "b": Usage(calls=1), "c": Usage(cost=0.25)}).cost == 0.75
