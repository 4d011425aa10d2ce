"""Labels of people for a judge: drawn from the plan, then rounds for people, kills, and bad material."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from people.worlds import Office
from reports.measuring import cell
from store.worlds import START
from worksample.people import Account, Item
from worksample.people.rounds.experiment_rounds import ExperimentRounds
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    Holistic,
    Instance,
    Protocol,
    Purpose,
    Round,
    Slot,
    Standing,
)
from worksample.reports.sections import measure
from worksample.results.calibration.config import CalibrationConfig
from worksample.results.calibration.label_draw import DRAWN, read_draw
from worksample.results.calibration.label_rounds import count_missing_labels, labels_of
from worksample.results.evaluator_answers import evaluator_answers
from worksample.results.result_set import ResultSet
from worksample.results.second_looks import ROUTED
from worksample.store import Store
from worksample.store.people_tables import assignments, items, queues

WORDS = "as seen, and nothing else is amiss"
"""What judges of this file say of everything."""


class Tasks(Office):
    """Each project is a task of its own: what is handed in for one is not independent."""

    def _instance(self, n: int, reference: str) -> Instance:
        return super()._instance(n, reference).replaced(id=f"t{n}/p{n}@1", task=f"t{n}")


def office(folder: Path, **rest: Any) -> Office:
    return Tasks(Store.open(folder / "s", create=True), **rest)


def planned(desk: Office, **rest: Any) -> Experiment:
    """The office's experiment with a calibration."""
    config = CalibrationConfig(**{"share": 0.5, "protocols": (Protocol.HOLISTIC,), **rest})
    return desk.store.get(Experiment, "x1").replaced(settings={"calibration": config.plain()})


def judge(
    desk: Office, passes: Callable[[str], bool], name: str = "judge", version: str = "1", only: int | None = None,
    round: Round | None = None,
) -> Round:  # fmt: skip
    """A judge's round over all that is delivered, or the one given; `only`: so many of it."""
    gradings = {i.id: i.grading_digest(Protocol.HOLISTIC) for i in desk.instances}
    kept = [round] if round else [r for r in desk.store.find(Round) if r.by is EvaluatorKind.JUDGE]
    round = kept[0] if kept else Round(
        id="judged", protocol=Protocol.HOLISTIC, by=EvaluatorKind.JUDGE, experiment="x1", gradings=gradings,
        author="me", at=START,
    )  # fmt: skip
    who = Evaluator(id=f"judge.{name}@{version}", name=name, type=EvaluatorKind.JUDGE, version=version, at=START)
    said = {e.subject for e in desk.store.find(Evaluation, round=round.id)}
    work = [(a.name, i) for a in desk.makers for i in desk.instances if f"s-{a.name}.{i.name}" not in said][:only]
    desk.store.commit(
        round, who,
        *(
            Evaluation(
                id=f"{round.id} {who.id} {maker} {i.name}", round=round.id, subject=f"s-{maker}.{i.name}",
                evaluator=who.id, instance=i.id, grading=round.gradings[i.id], outcome=EvaluationOutcome.GIVEN,
                payload=Holistic(score=2 if passes(f"{maker}.{i.name}") else 1, justification=WORDS),
                author="me", at=START,
            )
            for maker, i in work
        ),
    )  # fmt: skip
    return round


def fill(desk: Office, experiment: Experiment) -> int:
    return ExperimentRounds(overlap=1, clock=desk.clock).fill(desk.store, experiment, Protocol.HOLISTIC)


def good(subject: str) -> bool:
    """The truth of this file: even projects are done well."""
    return int(subject.rpartition("p")[2]) % 2 == 0


def label(desk: Office, *accounts: Account, passes: Callable[[str], bool] = good) -> int:
    def answer(account: Account, item: Item) -> dict[str, object]:
        [subject] = desk.behind(item)
        return {"score": 2 if passes(subject.removeprefix("s-")) else 1, "justification": "report.txt"}

    return desk.work_off(accounts, answer)


def routed(desk: Office) -> dict[str, str]:
    """Submission -> why it went to people."""
    rounds = [r for r in desk.store.find(Round) if ROUTED in r.versions]
    return {s: why for r in rounds for s, why in json.loads(desk.store.blobs.read(r.versions[ROUTED])).items()}


def labels(desk: Office) -> Round:
    [round] = [r for r in desk.store.find(Round) if DRAWN in r.versions]
    return round


def test_labels_are_an_equal_share_of_strata_independent_of_the_judge(tmp_path: Path) -> None:
    drawn = []
    for n, passes in enumerate((good, lambda subject: True)):
        desk = office(tmp_path / str(n), agents=3, projects=8)
        experiment = planned(desk)
        assert fill(desk, experiment) == 0, "nobody is asked before a judge is"
        judge(desk, passes)
        assert (fill(desk, experiment), fill(desk, experiment)) == (12, 0)
        round = labels(desk)
        assert (round.purpose, round.over, round.experiment) == (Purpose.CALIBRATION, "judged", "x1")
        draw = read_draw(desk.store, round)
        assert draw is not None and set(draw.counts.values()) == {(8, 4)}
        drawn.append(draw.drawn)
    assert drawn[0] == drawn[1]


def test_labels_change_no_verdict_and_labellers_never_see_the_judge(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=2, projects=4)
    experiment = planned(desk, route=())
    judge(desk, lambda subject: True)
    before = (
        ResultSet(desk.store, [experiment]).frame(Protocol.HOLISTIC).select("submission", "passed", "rounds").rows()
    )
    fill(desk, experiment)
    ann = desk.hire("ann", "expert")
    item = desk.people.drafting.claim(ann)
    assert item is not None
    desk.people.judging.submit(item.id, ann, {"score": 1, "justification": "report.txt"}, "k")
    assert desk.people.judging.earlier_votes(item.id, ann) == []
    label(desk, ann)
    assert fill(desk, experiment) == 0 and routed(desk) == {}
    after = ResultSet(desk.store, [experiment]).frame(Protocol.HOLISTIC).select("submission", "passed", "rounds").rows()
    assert after == before and all(passed for _, passed, _ in after)


def test_proven_judge_decides_and_one_below_threshold_does_not(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=2, projects=40)
    experiment = planned(desk, share=0.6, threshold=0.8)
    # Right about maker-0; passes all that maker-1 does.
    judge(desk, lambda subject: good(subject) or subject.startswith("maker-1"))
    assert fill(desk, experiment) == 48
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    assert label(desk, ann) == 48
    found = labels_of(desk.store, "x1", Protocol.HOLISTIC)
    assert found is not None and count_missing_labels(desk.store, experiment, found) == 0
    assert fill(desk, experiment) > 0 and fill(desk, experiment) == 0
    why = routed(desk)
    assert why and all(subject.startswith("s-maker-1") for subject in why)
    unlabelled = {s for s in why if "refused" in why[s]}
    contradicted = {s for s in why if "a person disagreed" in why[s]}
    assert len(unlabelled) == 16 and contradicted and len(unlabelled | contradicted) == len(why)
    frame = ResultSet(desk.store, [experiment]).frame(Protocol.HOLISTIC)
    waiting = {s for s, cause in frame.select("submission", "verdict_cause").rows() if cause == "person.awaited"}
    assert waiting == set(why)
    # Who labelled a work does not settle it.
    assert label(desk, ann) == 16 and label(desk, bob) == len(contradicted)
    frame = ResultSet(desk.store, [experiment]).frame(Protocol.HOLISTIC)
    assert set(frame["standing"]) == {Standing.DECIDED.value}
    assert {s: passed for s, passed in frame.select("submission", "passed").rows() if s in why} == {
        s: good(s) for s in why
    }


@pytest.mark.quick("labels")
@pytest.mark.parametrize("when", ["labels", "routed"])
def test_round_killed_before_its_queue_is_completed(tmp_path: Path, when: str) -> None:
    desk = office(tmp_path, agents=1, projects=6)
    experiment = planned(desk)
    judge(desk, lambda subject: True)
    assert fill(desk, experiment) == 3
    ann = desk.hire("ann", "expert")
    if when == "routed":
        label(desk, ann)
        assert fill(desk, experiment) > 0
    before = {r.id for r in desk.store.find(Round)}
    count, drawn = len(desk.store.find(Evaluation)), read_draw(desk.store, labels(desk))
    with desk.store.database.writing() as connection:
        for table in (assignments, items, queues):
            connection.execute(delete(table))
    assert fill(desk, experiment) > 0 and fill(desk, experiment) == 0
    assert {r.id for r in desk.store.find(Round)} == before
    assert read_draw(desk.store, labels(desk)) == drawn and len(desk.store.find(Evaluation)) == count


def test_calibration_set_of_three_proves_nothing(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=6)
    experiment = planned(desk, share=None, labels=3)
    judge(desk, good)
    assert fill(desk, experiment) == 3
    label(desk, desk.hire("ann", "expert"))
    assert fill(desk, experiment) == 3
    assert all("unproven, 3 labels show" in why for why in routed(desk).values())


def test_unanimous_labels_prove_no_judge(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=60)
    experiment = planned(desk)
    judge(desk, lambda subject: True)
    fill(desk, experiment)
    label(desk, desk.hire("ann", "expert"), passes=lambda subject: True)
    assert fill(desk, experiment) == 30
    assert all("only 0 of people's fails labelled" in why for why in routed(desk).values())


def test_lazy_judge_is_not_proven_if_few_pass(tmp_path: Path) -> None:
    """It fails everything, and agrees with people on 27 of 30."""
    desk = office(tmp_path, agents=1, projects=60)
    experiment = planned(desk, threshold=0.7)
    judge(desk, lambda subject: False)
    fill(desk, experiment)
    seen: list[str] = []

    def rare(subject: str) -> bool:
        seen.append(subject)
        return len(seen) <= 3

    label(desk, desk.hire("ann", "expert"), passes=rare)
    assert fill(desk, experiment) == 33
    assert sum("only 3 of people's passes labelled" in why for why in routed(desk).values()) == 30


def test_new_version_of_a_judge_begins_unproven(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=60)
    experiment = planned(desk)
    judge(desk, good, only=50)
    judge(desk, good, version="2")
    fill(desk, experiment)
    label(desk, desk.hire("ann", "expert"))
    assert fill(desk, experiment) > 0
    late = {f"s-maker-0.{i.name}" for i in desk.instances[50:]}
    assert set(routed(desk)) < late and all("not yet 80 %" in why for why in routed(desk).values())


def test_judge_stopped_midway_is_labelled_on_its_answers_only(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=8)
    experiment = planned(desk)
    judge(desk, good, only=5)
    assert fill(desk, experiment) == 4
    label(desk, desk.hire("ann", "expert"))
    fill(desk, experiment)
    said = {e.subject for e in desk.store.find(Evaluation, round="judged")}
    assert routed(desk) and set(routed(desk)) <= said
    judge(desk, good)
    assert fill(desk, experiment) > 0
    sent = [s for r in desk.store.find(Round) if ROUTED in r.versions for s in r.subjects]
    assert len(sent) == len(set(sent)) == 4


def test_people_are_asked_after_all_labels_and_all_work(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=4)
    experiment = planned(desk)
    judge(desk, lambda subject: True)
    fill(desk, experiment)
    assert fill(desk, experiment) == 0 and routed(desk) == {}
    label(desk, desk.hire("ann", "expert"))
    late = Slot(id="late", experiment="x1", agent=desk.makers[0].id, instance=desk.instances[0].id, repeat=2)
    desk.store.commit(late)
    assert fill(desk, experiment) == 0 and routed(desk) == {}


def test_labels_of_another_rubric_do_not_count(tmp_path: Path) -> None:
    """After a regrade by other notes people label anew, by those; taken back, the first labels count again."""
    desk = office(tmp_path, agents=1, projects=4)
    experiment = planned(desk)
    first = judge(desk, good)
    assert fill(desk, experiment) == 2
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    label(desk, ann)
    assert fill(desk, experiment) == 2
    old = labels(desk)
    other = desk.instances[0].grading[Protocol.HOLISTIC].replaced(notes="Look at the cover, too.")
    later = [i.replaced(id=f"{i.id}2", grading={Protocol.HOLISTIC: other}) for i in desk.instances]
    gradings = {i.id: other.digest for i in desk.instances}
    late = START + timedelta(hours=1)
    again = first.replaced(id="again", purpose=Purpose.REGRADE, over=first.id, gradings=gradings, at=late)
    adopt = Amendment(
        id="a",
        target=AmendmentTarget.ROUND,
        target_id="again",
        action=AmendmentAction.ADOPT,
        reason="mended",
        author="me",
        at=late,
    )
    assert "person" in set(evaluator_answers(ResultSet(desk.store, [experiment]))["kind"])
    desk.store.commit(*later, again)
    assert fill(desk, experiment) == 0, "a regrade that is not adopted asks nobody anything"
    desk.store.commit(adopt)
    judge(desk, good, round=again)
    assert "person" not in set(evaluator_answers(ResultSet(desk.store, [experiment]))["kind"])
    assert (fill(desk, experiment), fill(desk, experiment)) == (2, 0)
    found = labels_of(desk.store, "x1", Protocol.HOLISTIC)
    assert found is not None and found.round.id != old.id and found.round.over == "again"
    assert found.draw == read_draw(desk.store, old) and set(found.round.gradings.values()) == {other.digest}
    # What was sent to people under the old notes is given out no more, and the new labels show the new ones.
    item = desk.people.drafting.claim(bob)
    assert item is not None and item.notes == "Look at the cover, too." and item.round == found.round.id
    said = desk.people.judging.submit(item.id, bob, {"score": 1, "justification": "report.txt"}, "k")
    assert said.grading == other.digest
    assert label(desk, bob) == 1
    assert "person" in set(evaluator_answers(ResultSet(desk.store, [experiment]))["kind"])
    assert fill(desk, experiment) > 0
    sent = [r for r in desk.store.find(Round, over="again") if ROUTED in r.versions]
    assert len(sent) == 1 and set(sent[0].gradings.values()) == {other.digest}
    back = adopt.replaced(id="b", target_id=first.id, at=late + timedelta(hours=1))
    desk.store.commit(back)
    found = labels_of(desk.store, "x1", Protocol.HOLISTIC)
    assert found is not None and found.round.id == old.id


def test_judge_that_always_passes_is_named_and_decides_nothing(tmp_path: Path) -> None:
    """From the plan to the report: with how many labels, what goes to people, and what the figures are then."""
    desk = office(tmp_path, agents=2, projects=40)
    experiment = planned(desk, share=0.4)
    judge(desk, lambda subject: True)
    assert fill(desk, experiment) == 32
    assert suspects(desk, experiment) == {}
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    label(desk, ann)
    told = suspects(desk, experiment)
    given = sorted(desk.store.find(Evaluation, round=labels(desk).id), key=lambda e: e.at)
    # The third fail that a judge at the threshold would see four times in five.
    place = [n for n, e in enumerate(given, 1) if not good(e.subject)][2]
    assert told["judge.judge@1"] == (
        f"passes all 80 items, although people disagree on 3 of them, shown by {place} labels"
    )
    assert fill(desk, experiment) > 0
    frame = ResultSet(desk.store, [experiment]).frame(Protocol.HOLISTIC)
    assert frame.filter(frame["verdict_cause"] == "person.awaited").height == len(routed(desk)) > 48
    label(desk, bob)
    label(desk, ann)
    frame = ResultSet(desk.store, [experiment]).frame(Protocol.HOLISTIC)
    assert dict(frame.select("submission", "passed").rows()) == {
        f"s-{m.name}.{i.name}": good(i.name) for m in desk.makers for i in desk.instances
    }
    assert suspects(desk, experiment) == told, "what went to people adds nothing to what is known of the judge"


@pytest.mark.thorough(
    quick="reports/test_measures_of_evaluators.py::test_person_who_copies_the_judge_is_named_by_number"
)
def test_person_who_copies_the_judge_is_named_and_struck(tmp_path: Path) -> None:
    """Bob says what the judge says on all of it, in its words; ann and cem look. Struck, he is in no figure."""
    desk = office(tmp_path, agents=2, projects=60)
    experiment = planned(desk, share=1.0)

    def lenient(subject: str) -> bool:
        return good(subject) or int(subject.rpartition("p")[2]) % 3 == 0

    judge(desk, lenient)
    assert fill(desk, experiment) == 120
    accounts = {name: desk.hire(name, "expert") for name in ("ann", "bob", "cem")}

    def answer(account: Account, item: Item) -> dict[str, object]:
        [subject] = desk.behind(item)
        copies = account.name == "bob"
        passes = (lenient if copies else good)(subject.removeprefix("s-"))
        words = WORDS if copies else "report.txt"
        return {"score": 2 if passes else 1, "justification": words}

    assert desk.work_off(tuple(accounts.values()), answer) == 120
    told = suspects(desk, experiment)
    people = sorted(account.evaluator for account in accounts.values())
    mine = f"person {people.index(accounts['bob'].evaluator) + 1}"
    assert set(told) == {mine}, told
    assert told[mine].startswith("agrees with the judge on all 40 labels") and "word for word" in told[mine]
    before = {s.id: s for s in measure(desk.store, [experiment])}["calibrated"]
    desk.store.commit(
        Amendment(
            id="a",
            target=AmendmentTarget.EVALUATOR,
            target_id=accounts["bob"].evaluator,
            action=AmendmentAction.STRIKE,
            reason="copied the judge",
            author="me",
            at=START,
        )
    )
    after = {s.id: s for s in measure(desk.store, [experiment])}["calibrated"]
    assert suspects(desk, experiment) == {}
    counts = [cell(table, "all agents", "people's labels alone").counts.valid for table in (before, after)]
    assert counts == [120, 80]


@pytest.mark.quick("as it stands")
@pytest.mark.parametrize("lost", [False, True], ids=["as it stands", "made anew"])
def test_struck_labels_are_asked_of_somebody_else(tmp_path: Path, lost: bool) -> None:
    desk = office(tmp_path, agents=1, projects=4)
    experiment = planned(desk)
    judge(desk, good)
    assert fill(desk, experiment) == 2
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    assert label(desk, bob) == 2
    found = labels_of(desk.store, "x1", Protocol.HOLISTIC)
    assert found is not None and count_missing_labels(desk.store, experiment, found) == 0
    strike = Amendment(
        id="a", target=AmendmentTarget.EVALUATOR, target_id=bob.evaluator, action=AmendmentAction.STRIKE,
        reason="copied the judge", author="me", at=START,
    )  # fmt: skip
    desk.store.commit(strike)  # by no verb that tells the queue
    assert count_missing_labels(desk.store, experiment, found) == 2
    if lost:
        with desk.store.database.writing() as connection:
            for table in (assignments, items, queues):
                connection.execute(delete(table))
    assert (fill(desk, experiment), fill(desk, experiment)) == (2, 0)
    assert routed(desk) == {}, "nothing is sent on before there are labels again"
    assert (label(desk, bob), label(desk, ann)) == (0, 2)
    assert count_missing_labels(desk.store, experiment, found) == 0
    assert fill(desk, experiment) > 0 and routed(desk)


def suspects(desk: Office, experiment: Experiment) -> dict[str, str]:
    """Who is named in the report -> what was found."""
    found = {s.id: s for s in measure(desk.store, [experiment])}
    rows = found["favour"].rows if "favour" in found else ()
    return {row.label: str(row.cells[1]) for row in rows if row.cells[2] == "named"}
