"""Disagreements of people, judges and programs on the same work, and remaining work of people's rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from people.worlds import Office, office
from store.worlds import START
from worksample.people import Profile, RoundKind, list_queues
from worksample.people.quality.disagreements import WHOLE, disputed_questions
from worksample.people.quality.round_dashboard import wanted_votes
from worksample.people.rounds.queues import Queue
from worksample.records import (
    Amendment,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Importance,
    Instance,
    PartPayload,
    Protocol,
    Purpose,
    Round,
)


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=1, projects=2)


def machine(desk: Office, kind: EvaluatorKind, marks: dict[str, bool], protocol: Protocol, **rest: Any) -> Round:
    """A round in which a judge or a program marked the criteria of the first project's work."""
    [instance] = [i for i in desk.store.find(Instance) if i.name == "p0"]
    who = Evaluator(id=f"{kind}-1", name=f"a {kind}", type=kind, version="1", at=START)
    gradings = {instance.id: instance.grading_digest(Protocol.RUBRIC)} if protocol is Protocol.RUBRIC else {}
    round = Round(
        id=f"r-{kind}", protocol=protocol, by=kind, experiment="x1", gradings=gradings, author="me", at=START, **rest
    )
    parts = tuple(
        PartPayload(name=name, fraction=float(good), importance=Importance.CRITICAL, reason="read the file")
        for name, good in marks.items()
    )
    said = Evaluation(
        id=f"e-{kind}", round=round.id, subject="s-maker-0.p0", instance=instance.id, evaluator=who.id,
        grading=instance.grading_digest(Protocol.RUBRIC), outcome=EvaluationOutcome.GIVEN,
        payload=GradePayload(score=sum(marks.values()) / len(marks), parts=parts), author="me", at=START,
    )  # fmt: skip
    desk.store.commit(who, round, said)
    return round


def found(desk: Office) -> dict[tuple[str, str], tuple[str, ...]]:
    return {(p.submission, p.criterion): tuple(p.between) for p in disputed_questions(desk.store, "x1").found}


def test_disagreement_on_the_whole_lists_the_answers(desk: Office) -> None:
    round = desk.open(RoundKind.HOLISTIC)
    people = [desk.hire(name) for name in ("ann", "bob", "cem")]

    def answer(account: Any, item: Any) -> dict[str, Any]:
        good = account.name != "cem" or "p0" in desk.behind(item)[0]
        return {
            "score": 3 if good and account.name == "ann" else 2 if good else 1,
            "justification": f"says {account.name}",
        }

    desk.work_off(people, answer, round.id)
    got = disputed_questions(desk.store, "x1")
    # 2 and 3 both accept: no parting.
    assert (got.looked_at, [p.submission for p in got.found]) == (2, ["s-maker-0.p1"])
    [one] = got.found
    assert (one.criterion, one.between) == (WHOLE, (EvaluatorKind.PERSON,))
    assert {(a.passed, a.why) for a in one.answers} == {(True, "says ann"), (True, "says bob"), (False, "says cem")}
    evaluation = next(a.evaluation for a in one.answers if not a.passed)
    desk.store.commit(
        Amendment(
            id="a1", action="strike", target="evaluation", target_id=evaluation, reason="asleep", author="me", at=START
        )
    )
    assert disputed_questions(desk.store, "x1").found == ()


def test_judge_and_program_disagree_with_people_by_criterion(desk: Office) -> None:
    expert = desk.hire("eva", "expert")
    round = desk.open(RoundKind.RUBRIC)
    marks = {"marks": {"title": "pass", "sums": "fail", "tidy": "cannot_judge"},
             "feedback": {"sums": "off by one", "tidy": "no file"}}  # fmt: skip
    desk.work_off([expert], lambda account, item: marks, round.id)
    machine(desk, EvaluatorKind.JUDGE, {"title": True, "sums": True, "tidy": True}, Protocol.RUBRIC)
    machine(desk, EvaluatorKind.PROGRAM, {"title": False, "sums": False}, Protocol.PROGRAM)
    subject = "s-maker-0.p0"
    all_three = ("judge", "person", "program")
    parted = found(desk)
    assert parted[subject, "title"] == all_three and parted[subject, "sums"] == all_three
    # What nobody could judge is no answer, so the judge stands alone there.
    assert (subject, "tidy") not in parted
    [sums] = [p for p in disputed_questions(desk.store, "x1").found if p.criterion == "sums"]
    assert sums.text == "The sums are right"
    assert {(a.kind.value, a.passed) for a in sums.answers} == {("person", False), ("judge", True), ("program", False)}


@pytest.mark.parametrize("purpose", [Purpose.CALIBRATION, Purpose.FAILURES])
def test_rounds_that_judge_no_work_are_left_out(desk: Office, purpose: Purpose) -> None:
    ann = desk.hire("ann")
    desk.work_off([ann], lambda account, item: {"score": 1, "justification": "report.txt is empty"}, desk.open().id)
    machine(desk, EvaluatorKind.JUDGE, {"title": True}, Protocol.RUBRIC, purpose=purpose)
    assert found(desk) == {}


def test_remaining_work_is_given_in_votes_hours_and_pay(desk: Office) -> None:
    def queue() -> Queue:
        return list_queues(desk.people.store)[0]

    round = desk.open(RoundKind.HOLISTIC)
    left = wanted_votes(desk.store, queue())
    assert (left.votes, left.minutes, left.measured, left.hours, left.pay) == (6, 20, False, 2, None)
    ann = desk.people.accounts.set_profile(desk.hire("ann"), Profile(pay_rate=30))
    item = desk.people.drafting.claim(ann, round.id)
    assert item is not None
    assert (wanted_votes(desk.store, queue()).votes, wanted_votes(desk.store, queue()).out) == (6, 1)
    desk.clock.pass_(600)
    desk.people.judging.submit(item.id, ann, {"score": 2, "justification": "report.txt is whole"}, "k", 360)
    left = wanted_votes(desk.store, queue())
    assert (left.votes, left.out, left.minutes, left.measured) == (5, 0, 6, True)
    assert left.pay == pytest.approx(5 * 6 / 60 * 30)
    assert isinstance(desk.store.find(Evaluation)[0].payload, Holistic)
