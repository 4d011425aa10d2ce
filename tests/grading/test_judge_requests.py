"""Graders that ask a judge: through the broker, recorded, without a key in the box, and never scored if the judge
fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grading.helpers_grading import Bench, bench
from grading.judging_material import MODEL, OTHER, roles
from openai_server import Answer, Fault, judged, read, serving
from worksample.errors import Cause, JudgeError
from worksample.grading import EvaluationPlace, Evaluators, ProgramEvaluator, evaluate, grade_all, open_round
from worksample.grading.judge_requests import GraderQuestions, parse
from worksample.models import JudgeConfig, Roles
from worksample.records import Evaluation, EvaluationOutcome, GradePayload
from worksample.sandboxes.request_broker import MalformedRequest

pytestmark = pytest.mark.box


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path, "asks", timeout=60)


async def graded(made: Bench, found: Roles, text: str, sandbox: str = "none") -> Evaluation:
    submission = made.submit({"answer.txt": text})
    round = open_round(made.store, subjects=(submission.id,), author="test")
    done = await evaluate(
        made.store, round, submission, made.instance, EvaluationPlace(ProgramEvaluator(sandbox, roles=found), 1)
    )
    assert done is not None
    return done


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
async def test_judge_calls_of_a_grader_are_recorded(made: Bench, sandbox: str) -> None:
    with serving([judged("yes", "1,250 EUR", input_tokens=1000)]) as served:
        done = await graded(made, roles(served, made.store.blobs), "it is 1,250 EUR", sandbox)
    assert isinstance(done.payload, GradePayload)
    assert done.payload.score == 1.0
    assert done.cost == pytest.approx(0.0102)
    [entry] = done.record["runs"]
    assert (entry["ask"], entry["value"], entry["model"]) == ("yes_no", True, MODEL)
    assert all(made.store.blobs.has(digest) for digest in entry["calls"][0].values())
    assert done.record["usage"]["judge"]["calls"] == 1
    assert read(served.requests[0]).exhibits == ["| name: answer.txt\n| it is 1,250 EUR\n"]


@pytest.mark.parametrize("text", ["it is 1", "careless: it is 1"])
async def test_failed_judge_leaves_ungraded_whatever_the_grader_returns(made: Bench, text: str) -> None:
    for answer, cause in [(judged("hm"), Cause.JUDGE_MALFORMED), (Answer(fault=Fault.BROKEN), Cause.JUDGE_ERROR)]:
        with serving([answer]) as served:
            done = await graded(made, roles(served, made.store.blobs, tries=1), text)
        assert (done.outcome, done.cause) == (EvaluationOutcome.FAILED, cause)
        assert served.requests


async def test_missing_judge_waits_and_is_asked_once_configured(made: Bench) -> None:
    submission = made.submit({"answer.txt": "it is 1"})
    round = open_round(made.store, subjects=(submission.id,), author="test")
    for _ in range(2):
        await grade_all(made.store, round, here=Evaluators("none"))
    [waiting] = made.store.find(Evaluation, round=round.id)
    assert waiting.cause is Cause.JUDGE_LACKS
    assert "[judges.judge]" in waiting.reason or "none is configured" in waiting.reason
    with serving([judged("yes", "it is 1")]) as served:
        await grade_all(made.store, round, here=Evaluators("none", roles=roles(served, made.store.blobs)))
    said = made.store.find(Evaluation, round=round.id)
    assert [e.outcome for e in said if e.id != waiting.id] == [EvaluationOutcome.GIVEN]


class Recorded(GraderQuestions):
    """A grading's questions, without a grading."""

    def __init__(self, found: Roles) -> None:
        super().__init__(found, [])


def question(**changes: Any) -> dict[str, Any]:
    return {"kind": "yes_no", "question": "Is it?", "exhibits": [{"look": "text", "text": "it is"}], **changes}


async def test_panel_decides_by_majority(made: Bench) -> None:
    def by_model(request: dict[str, Any], count: int) -> Answer:
        return judged("yes", "it is") if request["model"] == "judge-1" or count >= 4 else judged("no", "", None)

    with serving(by_model) as served:
        panel = {"judge": JudgeConfig(model=(MODEL, OTHER), repeats=2)}
        asks = Recorded(roles(served, made.store.blobs, panel))
        with pytest.raises(Exception, match="no answer has a majority"):
            await asks.ask(question())
        assert (await asks.ask(question()))["value"] is True
    assert asks.usage["judge"].calls == 8
    assert len(asks.records) == 8


async def test_usage_of_a_failed_judge_is_counted(made: Bench) -> None:
    with serving([judged("hm")]) as served:
        asks = Recorded(roles(served, made.store.blobs, tries=1))
        with pytest.raises(JudgeError):
            await asks.ask(question())
    assert asks.usage["judge"].calls == len(served.requests) > 0
    assert asks.failed is not None
    assert asks.records[0]["failed"] == asks.failed.what


@pytest.mark.parametrize(
    "body",
    [
        {}, question(kind="essay"), question(question=7), question(question="x" * 60_000), question(exhibits="it"),
        question(exhibits=[{"look": "film"}]), question(exhibits=[{"look": "picture", "data": "!"}]),
        question(exhibits=[{"look": "text", "text": "x"}] * 201), question(kind="choice", options=[1]),
        question(kind="fields", fields={"a": 1}), question(kind="checklist", items={}), question(kind="pair"),
        question(kind="choice", options="ab"), question(kind="checklist", items={"a": 1}), question(role=7),
        question(kind="checklist", items=["a"]), question(kind="fields", fields=[{}]), question(exhibits=[1]),
        question(exhibits={}), question(question="x" * 50_001),
    ],
)  # fmt: skip
def test_malformed_question_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(MalformedRequest):
        parse(body)


def test_omitted_fields_of_a_question_have_defaults() -> None:
    """The judge of no special role, and answers that quote."""
    role, probe = parse(question())
    assert (role, probe.quotes, probe.second) == ("judge", True, ())
    assert not parse(question(quotes=False))[1].quotes
    assert parse(question(role="reader"))[0] == "reader"
    assert len(parse(question(question="x" * 50_000))[1].question) == 50_000
    sides = [{"look": "text", "text": "x", "side": side} for side in ("reference", "the work", "")]
    assert [e.side for e in parse(question(exhibits=sides))[1].exhibits] == ["the reference", "", ""]
