"""Criteria by kind of evaluator: unjudged criteria never pass, and no kind answers for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people.worlds import Office
from store.worlds import EMPTY, at
from worksample.errors import Cause, GraderError, ImportFailed, PlanError, UsageError
from worksample.kit.grade_check import check_result
from worksample.people import (
    Form,
    InvalidAnswer,
    PeopleRound,
    RoundKind,
    amend,
    export_csv,
    final_verdicts,
    import_judgments,
)
from worksample.people.judging.answer_validation import grade_of
from worksample.people.rounds.experiment_rounds import ExperimentRounds
from worksample.records import (
    AmendmentAction,
    AmendmentTarget,
    Criteria,
    Criterion,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    GradePayload,
    Grading,
    Holistic,
    Importance,
    Instance,
    JudgedBy,
    PartPayload,
    Protocol,
    Purpose,
    ResolutionRule,
    Round,
    SkipReason,
    Submission,
)
from worksample.reports import leaderboard
from worksample.results.result_set import ResultSet, WorkRules
from worksample.store import Store

SUBJECT = "s-maker-0.p0"
PROGRAM, JUDGE, PERSON = EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE, EvaluatorKind.PERSON


def leaf(id: str, by: str = "program", importance: str | None = "critical", **rest: Any) -> Criterion:
    return Criterion.model_validate({"id": id, "text": id, "by": by, "importance": importance, **rest}, strict=False)


MIXED = Criteria(criteria=(leaf("opens"), leaf("sums"), leaf("rows"), leaf("tidy", "person")))


class Desk(Office):
    """An office whose instances have criteria of several kinds, graded under `protocol`."""

    protocol = Protocol.RUBRIC
    criteria = MIXED
    minute = 10

    def _instance(self, n: int, reference: str) -> Instance:
        made = {
            p: Grading(protocol=p, reference=reference, grader=EMPTY, criteria=self.criteria)
            for p in (Protocol.PROGRAM, Protocol.RUBRIC, Protocol.HOLISTIC)
        }
        return super()._instance(n, reference).replaced(grading=made)

    def ask(self, id: str, by: EvaluatorKind, protocol: Protocol | None = None, **rest: Any) -> Round:
        self.minute += 1
        made = Round(
            id=id, protocol=protocol or self.protocol, by=by, experiment="x1", author="me", at=at(self.minute), **rest
        )
        self.store.commit(made, Evaluator(id=f"{by}-{id}", name=id, type=by, at=at(self.minute)))
        return made

    def say(self, round: Round, payload: Any, subject: str = SUBJECT, cause: Cause | None = None) -> Evaluation:
        self.minute += 1
        number = int(subject.rpartition("p")[2])
        made = Evaluation(
            id=f"e{self.minute}", round=round.id, subject=subject, instance=self.instances[number].id,
            evaluator=f"{round.by}-{round.id}", outcome=EvaluationOutcome.FAILED if cause else EvaluationOutcome.GIVEN,
            payload=None if cause else payload, cause=cause, author="me", at=at(self.minute),
        )  # fmt: skip
        self.store.commit(made)
        return made

    def told(self, by: JudgedBy | None = None, protocol: Protocol | None = None) -> dict[str, Any]:
        """The row of the first maker's first deliverable."""
        found = self.store.find(Experiment, id="x1")
        frame = ResultSet(self.store, found, WorkRules(judged_by=by)).frame(protocol or self.protocol)
        return next(row for row in frame.iter_rows(named=True) if row["submission"] == SUBJECT)


def made(folder: Path, criteria: Criteria = MIXED, protocol: Protocol = Protocol.RUBRIC) -> Desk:
    kind = type("Made", (Desk,), {"criteria": criteria, "protocol": protocol})
    return kind(Store.open(folder / "store", create=True), 1, 2)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return made(tmp_path)


def grade(score: float = 1.0, **marks: float) -> GradePayload:
    parts = tuple(PartPayload(name=n.replace("_", "-"), fraction=f, importance="critical") for n, f in marks.items())
    return GradePayload.model_validate(
        {"score": score, "parts": [p.plain() for p in parts], "reason": "so"}, strict=False
    )


ALL = {"opens": 1.0, "sums": 1.0, "rows": 1.0}


@pytest.mark.parametrize("protocol", [Protocol.RUBRIC, Protocol.PROGRAM])
def test_unjudged_criterion_does_not_pass(tmp_path: Path, protocol: Protocol) -> None:
    desk = made(tmp_path, protocol=protocol)
    desk.say(desk.ask("r1", PROGRAM), grade(**ALL))
    row = desk.told()
    assert (row["state"], row["passed"], row["score"]) == ("ungraded", None, None)
    assert (row["reason"], row["verdict_cause"]) == ("waits for people: tidy", Cause.PERSON_AWAITED)
    desk.say(desk.ask("r2", PERSON), grade(tidy=1.0))
    row = desk.told()
    assert (row["state"], row["passed"], row["score"]) == ("valid", True, 1.0)
    assert set(row["rounds"]) == {"r1", "r2"} and len(row["evaluations"]) == 2


def test_people_are_asked_their_own_criteria_only(desk: Desk) -> None:
    eve = desk.hire("eve", "expert")
    round = desk.open(RoundKind.RUBRIC, subjects=(SUBJECT,))
    assert (round.by, round.protocol) == (PERSON, Protocol.RUBRIC)
    item = desk.people.drafting.claim(eve)
    assert item is not None and [c.id for c in item.criteria.leaves] == ["tidy"]
    with pytest.raises(InvalidAnswer) as caught:
        desk.people.judging.submit(item.id, eve, {"marks": {"tidy": "pass", "sums": "pass"}, "feedback": {}}, "k")
    assert set(caught.value.faults) == {"sums"}
    said = desk.people.judging.submit(item.id, eve, {"marks": {"tidy": "pass"}, "feedback": {}}, "k").payload
    assert isinstance(said, GradePayload) and [p.name for p in said.leaves] == ["tidy"]


def test_programs_criteria_may_partly_be_peoples(tmp_path: Path) -> None:
    desk = made(tmp_path, protocol=Protocol.PROGRAM)
    desk.say(desk.ask("r1", PROGRAM), grade(**ALL))
    eve = desk.hire("eve", "expert")
    round = desk.open(RoundKind.RUBRIC, protocol=Protocol.PROGRAM, most_open=9)
    assert (round.by, round.protocol) == (PERSON, Protocol.PROGRAM)
    while (item := desk.people.drafting.claim(eve)) is not None:
        mark = {"marks": {"tidy": "fail"}, "feedback": {"tidy": "a coffee stain"}}
        desk.people.judging.submit(item.id, eve, mark, "k")
    row = desk.told(protocol=Protocol.PROGRAM)
    assert (row["state"], row["passed"], row["score"]) == ("valid", False, 0.75)


def test_experiments_own_round_asks_people_their_criteria(tmp_path: Path) -> None:
    """Under any protocol, of the work that has something for them; work that comes later is added."""
    desk = made(tmp_path, protocol=Protocol.PROGRAM)
    alone = desk.instances[1].grading[Protocol.PROGRAM].replaced(criteria=Criteria(criteria=MIXED.criteria[:3]))
    other = desk.instances[1].replaced(id=desk.instances[1].id[:-1] + "x", grading={Protocol.PROGRAM: alone})
    plan = desk.store.get(Experiment, "x1")
    late = plan.replaced(id="x2", lock=plan.lock.replaced(instances=(desk.instances[0].id, other.id)))
    first = desk.store.get(Submission, "s-maker-0.p1").replaced(
        id="s-first", instance=other.id, experiment="x2", trial=None, origin="external"
    )
    desk.store.commit(other, late, first)
    assert ExperimentRounds(clock=desk.clock).fill(desk.store, late, Protocol.PROGRAM) == 0
    assert not desk.store.find(Round, experiment="x2"), "of that work people are asked nothing"
    for name in ("s-second", "s-third"):
        desk.store.commit(first.replaced(id=name, instance=desk.instances[0].id))
        assert ExperimentRounds(clock=desk.clock).fill(desk.store, late, Protocol.PROGRAM) == 1
    (round,) = desk.store.find(Round, experiment="x2")
    assert (round.protocol, round.by) == (Protocol.PROGRAM, PERSON)
    assert ExperimentRounds(clock=desk.clock).fill(desk.store, late, Protocol.PROGRAM) == 0


def test_round_that_asks_people_nothing_is_not_opened(tmp_path: Path) -> None:
    desk = made(tmp_path, Criteria(criteria=(leaf("opens"), leaf("vivid", "judge"))))
    with pytest.raises(PlanError, match="no criterion under rubric is asked of people"):
        desk.open(RoundKind.RUBRIC)
    desk.say(desk.ask("r1", PROGRAM), grade(opens=1.0))
    assert desk.told()["reason"] == "waits for a judge: vivid"
    with pytest.raises(UsageError, match="has no criteria"):
        PeopleRound(kind=RoundKind.RUBRIC, experiment="x1", protocol=Protocol.HOLISTIC)


def test_unassigned_criteria_are_peoples_in_their_round(tmp_path: Path) -> None:
    desk = made(tmp_path, Criteria(criteria=(leaf("opens"), leaf("sums"))))
    eve = desk.hire("eve", "expert")
    desk.open(RoundKind.RUBRIC)
    item = desk.people.drafting.claim(eve)
    assert item is not None and [c.id for c in item.criteria.leaves] == ["opens", "sums"]


def test_judges_round_never_replaces_peoples(desk: Desk) -> None:
    people = desk.ask("h1", PERSON, Protocol.HOLISTIC)
    desk.say(people, Holistic(score=1))
    judged = desk.ask("h2", JUDGE, Protocol.HOLISTIC)
    desk.say(judged, Holistic(score=3))
    row = desk.told(protocol=Protocol.HOLISTIC)
    assert (row["passed"], row["rounds"]) == (False, ["h1"])
    row = desk.told(JudgedBy.JUDGE, Protocol.HOLISTIC)
    assert (row["passed"], row["rounds"]) == (True, ["h2"])
    row = desk.told(JudgedBy.PROGRAM, Protocol.HOLISTIC)
    assert row["state"] == "ungraded"
    board = leaderboard(desk.store, rules=WorkRules(judged_by=JudgedBy.JUDGE))
    assert board.rows[0].valid == 1 and leaderboard(desk.store).rows[0].valid == 1
    assert {board.rows[0].passed.value, leaderboard(desk.store).rows[0].passed.value} == {1.0, 0.0}


def test_judges_audit_overrules_no_people(desk: Desk) -> None:
    people = desk.ask("h1", PERSON, Protocol.HOLISTIC)
    desk.say(people, Holistic(score=2))
    for by, passed in ((JUDGE, True), (PERSON, False)):
        look = desk.ask(f"a-{by}", by, Protocol.HOLISTIC, purpose=Purpose.AUDIT, over="h1")
        desk.say(look, Holistic(score=1))
        assert desk.told(protocol=Protocol.HOLISTIC)["passed"] is passed


def test_work_that_waits_for_people_says_so(desk: Desk) -> None:
    row = desk.told(protocol=Protocol.HOLISTIC)
    assert (row["state"], row["verdict_cause"]) == ("ungraded", Cause.PERSON_AWAITED)
    assert row["reason"] == "waits for people" and not row["broken"]
    row = desk.told()
    assert row["reason"] == "waits for a program: opens, sums, rows; waits for people: tidy"


def test_single_requested_kind_must_answer_everything(desk: Desk) -> None:
    desk.say(desk.ask("r1", PROGRAM), grade(**ALL))
    desk.say(desk.ask("r2", PERSON), grade(tidy=1.0))
    assert desk.told()["passed"] is True
    assert desk.told(JudgedBy.PEOPLE)["reason"] == "waits for people: opens, sums, rows"
    assert desk.told(JudgedBy.PROGRAM)["reason"] == "waits for a program: tidy"
    desk.say(desk.ask("r3", PERSON), grade(**{**ALL, "sums": 0.0}, tidy=1.0))
    assert (desk.told()["passed"], desk.told(JudgedBy.PEOPLE)["passed"]) == (True, False)


def test_grader_failure_is_not_waiting(desk: Desk) -> None:
    desk.say(desk.ask("r1", PROGRAM), None, cause=Cause.GRADER_CRASH)
    row = desk.told()
    assert (row["state"], row["verdict_cause"], row["broken"]) == ("ungraded", Cause.GRADER_CRASH, True)
    desk.say(desk.ask("r2", PERSON), None, cause=Cause.PERSON_DECLINED)
    assert desk.told()["verdict_cause"] == Cause.GRADER_CRASH
    desk.say(desk.ask("r3", PROGRAM), grade(**ALL))
    row = desk.told()
    assert (row["reason"], row["verdict_cause"]) == ("waits for people: tidy", Cause.PERSON_AWAITED)


def test_no_applicable_criterion_gives_no_score(tmp_path: Path) -> None:
    desk = made(tmp_path, Criteria(criteria=(leaf("opens"), leaf("tidy", "person"))), Protocol.PROGRAM)
    for id, by, name in (("r1", PROGRAM, "opens"), ("r2", PERSON, "tidy")):
        void = PartPayload(name=name, skip=SkipReason.NOT_APPLICABLE)
        desk.say(desk.ask(id, by), GradePayload(score=0.0, parts=(void,), reason="so"))
    assert (desk.told()["state"], desk.told()["reason"]) == ("ungraded", "no criterion applies")


def test_default_of_the_experiment_is_kept_and_two_are_refused(desk: Desk) -> None:
    plan = desk.store.get(Experiment, "x1")
    assert plan.lock.judged_by is None and "judged_by" not in plan.plain()["lock"]
    other = plan.replaced(id="x2", lock=plan.lock.replaced(judged_by=JudgedBy.JUDGE))
    assert other.plain()["lock"]["judged_by"] == "judge" and other.lock.comparable == plan.lock.comparable
    desk.store.commit(other)
    assert ResultSet(desk.store, [other]).judged_by is JudgedBy.JUDGE
    with pytest.raises(UsageError, match="judged by different"):
        assert ResultSet(desk.store, [plan, other]).judged_by
    assert ResultSet(desk.store, [plan, other], WorkRules(judged_by=JudgedBy.PEOPLE)).judged_by is JudgedBy.PEOPLE


def test_audit_of_one_kind_affects_its_criteria_only(desk: Desk) -> None:
    desk.say(desk.ask("r2", PERSON), grade(tidy=1.0))
    desk.say(desk.ask("r1", PROGRAM), grade(**ALL))
    first = desk.told()
    assert (first["passed"], first["by"], first["evaluations"]) == (True, "votes", ["e12", "e14"])
    look = desk.ask("a1", PERSON, purpose=Purpose.AUDIT, over="r1")
    desk.say(look, grade(**{**ALL, "sums": 0.0}))
    row = desk.told()
    assert (row["passed"], row["score"], row["by"], row["evaluations"]) == (False, 0.75, "audit", ["e12", "e16"])
    assert set(row["rounds"]) == {"r2", "a1"}
    desk.say(desk.ask("a2", PERSON, purpose=Purpose.AUDIT, over="r1"), grade(sums=0.0))
    assert desk.told()["reason"] == "waits for a program: opens, rows"


def test_criteria_are_those_in_force_in_the_round(tmp_path: Path) -> None:
    desk = made(tmp_path, Criteria(criteria=MIXED.criteria[:3]))
    old = desk.instances[0]
    stricter = old.grading[Protocol.RUBRIC].replaced(criteria=MIXED)
    new = old.replaced(id=old.id[:-1] + "x", grading={Protocol.RUBRIC: stricter})
    desk.store.commit(new)
    desk.say(desk.ask("r1", PROGRAM, gradings={old.id: old.grading_digest(Protocol.RUBRIC)}), grade(**ALL))
    assert desk.told()["passed"] is True
    desk.say(desk.ask("r2", PROGRAM, gradings={old.id: new.grading_digest(Protocol.RUBRIC)}), grade(**ALL))
    assert desk.told()["reason"] == "waits for people: tidy"


def test_struck_work_waits_for_nobody(desk: Desk) -> None:
    dana = desk.hire("dana", "admin")
    amend(
        desk.people.store,
        dana,
        AmendmentAction.STRIKE,
        AmendmentTarget.SUBMISSION,
        SUBJECT,
        "a leak",
        clock=desk.people.clock,
    )
    assert desk.told(protocol=Protocol.HOLISTIC)["reason"] == "the submission was struck"


def test_gate_of_an_unassigned_rubric_holds(tmp_path: Path) -> None:
    criteria = Criteria(criteria=(leaf("opens", importance="optional", gate=True), leaf("sums")))
    desk = made(tmp_path, criteria)
    desk.say(desk.ask("r1", PERSON), grade(opens=0.0, sums=1.0))
    assert (desk.told()["passed"], desk.told()["score"]) == (False, 0.0)
    parts = (leaf("opens", importance="optional", gate=True), leaf("clean"))
    nested = Criteria(criteria=(Criterion(id="both", text="b", parts=parts), leaf("sums")))
    (tmp_path / "nested").mkdir()
    desk = made(tmp_path / "nested", nested)
    desk.say(desk.ask("r1", PERSON), grade(opens=0.0, clean=1.0, sums=1.0))
    assert (desk.told()["passed"], desk.told()["score"]) == (False, pytest.approx(1 / 3))


BRANCHED = Criteria(
    criteria=(
        Criterion(id="style", text="s", parts=(
            leaf("clean", "person", None, points=1, gate=True), leaf("plain", "person", None, points=1),
        )),
        leaf("right", "person", None, points=2),
    )
)  # fmt: skip


def test_nested_gate_closes_its_branch_in_peoples_grades() -> None:
    parts = tuple(PartPayload(name=n, fraction=f) for n, f in (("clean", 0.0), ("plain", 1.0), ("right", 1.0)))
    assert grade_of(BRANCHED, parts).score == 0.5


def test_gates_hold_across_kinds(tmp_path: Path) -> None:
    criteria = Criteria(criteria=(leaf("opens", gate=True), leaf("tidy", "person"), leaf("vivid", "judge")))
    desk = made(tmp_path, criteria, Protocol.PROGRAM)
    desk.say(desk.ask("r1", PROGRAM), grade(opens=0.0))
    desk.say(desk.ask("r2", PERSON), grade(tidy=1.0))
    assert desk.told()["verdict_cause"] == Cause.JUDGE_AWAITED
    desk.say(desk.ask("r3", JUDGE), grade(vivid=1.0))
    row = desk.told()
    assert (row["state"], row["score"], row["passed"]) == ("valid", 0.0, False)


def test_criterion_passed_by_people_may_imply_one_failed_by_a_program(tmp_path: Path) -> None:
    criteria = Criteria(criteria=(leaf("opens"), leaf("done", "person", implies_others=True)))
    desk = made(tmp_path, criteria, Protocol.CHECKPOINTS)
    desk.say(desk.ask("r1", PROGRAM), grade(opens=0.0))
    desk.say(desk.ask("r2", PERSON), grade(done=1.0))
    told = desk.told()
    assert (told["score"], told["passed"]) == (1.0, True)


def test_passing_a_rubric_means_the_same_everywhere(tmp_path: Path) -> None:
    """Critical and important passed, an optional one and a pitfall failed: completed (UpBench 5.2.1)."""
    each = [leaf(i.value, "program", i.value) for i in Importance]
    desk = made(tmp_path, Criteria(criteria=tuple(each)))
    round = desk.ask("r1", PERSON)
    parts = [
        PartPayload(name=i.value, importance=i, fraction=float(i in (Importance.CRITICAL, Importance.IMPORTANT)))
        for i in Importance
    ]
    desk.say(round, grade_of(Criteria(criteria=tuple(each)), tuple(parts)))
    assert desk.told()["passed"] is True
    assert final_verdicts(desk.people.store, "r1")[SUBJECT].verdict.passed is True
    audit = desk.open(RoundKind.AUDIT, over="r1", form=Form.RUBRIC)
    assert audit.subjects == (SUBJECT,)
    eva = desk.hire("eva", "reviewer")
    assert (item := desk.people.drafting.claim(eva)) is not None and item.round == audit.id
    from worksample.results.judged_rounds import passes_of

    assert list(passes_of(desk.store, round).values()) == [True]
    from worksample.people.quality.round_dashboard import votes_of

    assert votes_of(desk.store, "r1").positive == (True,)


def test_program_cannot_decide_the_whole_if_others_decide_too() -> None:
    with pytest.raises(GraderError, match="judges or people decide some"):
        check_result(GradePayload(score=1.0), MIXED)
    assert check_result(grade(**ALL), MIXED).score == 1.0
    with pytest.raises(GraderError, match="differ in tidy"):
        check_result(grade(**ALL, tidy=1.0), MIXED)


def test_imported_judges_are_judges(desk: Desk, tmp_path: Path) -> None:
    row = (
        b'{"subject": "s-maker-0.p0", "evaluator": "m/1", "by": "judge", "score": 3, "justification": "x", '
        b'"minutes": 1.125}\n'
    )
    round = import_judgments(desk.store, row, Form.HOLISTIC, format="jsonl", author="me")
    (said,) = desk.store.find(Evaluation, round=round.id)
    assert (round.by, desk.store.get(Evaluator, said.evaluator).type) == (JUDGE, JUDGE)
    export_csv(desk.store, round.id, tmp_path / "out.csv")
    again = import_judgments(
        desk.store,
        (tmp_path / "out.csv").read_bytes(),
        Form.HOLISTIC,
        format="csv",
        author="me",
        rule=ResolutionRule.LATEST,
    )
    assert again.by is JUDGE
    assert [one.minutes for one in desk.store.find(Evaluation, round=again.id)] == [1.125]
    for bad, says in ((b"oracle", "one of person, judge, program"), (b"person", "one kind of evaluator")):
        both = row + row.replace(b"m/1", b"ann").replace(b'"judge"', b'"' + bad + b'"')
        with pytest.raises(ImportFailed, match=says):
            import_judgments(desk.store, both, Form.HOLISTIC, format="jsonl", author="me")


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_weights_agree_with_the_kit(leaves: list[tuple[bool, float]], implies: bool, closes: bool) -> None:
    from worksample.kit import Case, checkpoints
    from worksample.records.weighted_criteria import weigh

    nodes = [leaf(f"c{n}", importance=None, points=n + 1, gate=gate) for n, (gate, _) in enumerate(leaves)]
    inner = Criterion(id="inner", text="i", parts=tuple(nodes), gate=closes)
    last = leaf("last", importance=None, points=2, implies_others=implies)
    criteria = Criteria(criteria=(inner, last))
    shares = {f"c{n}": share for n, (_, share) in enumerate(leaves)} | {"last": leaves[-1][1]}
    told = checkpoints(Case({}, criteria=criteria), shares)
    assert told.score == pytest.approx(weigh(criteria.criteria, shares))


def test_inapplicable_criteria_weigh_nothing() -> None:
    from worksample.records.weighted_criteria import weigh

    nodes = (leaf("opens", importance=None, points=1, gate=True), leaf("sums", importance=None, points=3))
    assert weigh(nodes, {"opens": None, "sums": None}) is None
    assert weigh(nodes, {"opens": None, "sums": 0.5}) == 0.5
