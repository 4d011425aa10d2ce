"""Qualification of jobs: one expert qualifies, a second verifies, a third decides if they differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people.worlds import Office, office
from worksample.errors import ManifestError, UsageError
from worksample.people import Account, InvalidAnswer, Item, PeopleRound, RoundKind, amend, final_verdicts, refill_queue
from worksample.people.quality import round_dashboard as dashboard
from worksample.people.rounds.job_questions import CONTEXT, CORE, IDENTIFIERS, QUALITY, Question, read_questions
from worksample.people.rounds.job_screening_results import store_looks
from worksample.records import (
    AmendmentAction,
    AmendmentTarget,
    Importance,
    Labels,
    Purpose,
    ResolutionRule,
    Round,
    Standing,
)
from worksample.results.job_suitability import DECIDES, is_qualified, votes_wanted
from worksample.store import check, rebuild

FIT = {CONTEXT: "yes", QUALITY: "yes", IDENTIFIERS: "yes"}
UNFIT = {**FIT, CONTEXT: "no", CONTEXT + "_why": "the price list is missing"}


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path)


def opened(desk: Office, **rest: Any) -> Round:
    return desk.open(RoundKind.QUALIFICATION, subjects=tuple(i.id for i in desk.instances), **rest)


def by_name(says: dict[str, Sequence[dict[str, Any]]], desk: Office) -> Any:
    """Instance's name -> the answers on it, in the order in which they are given."""
    left = {f"report/{name}": list(answers) for name, answers in says.items()}

    def answer(account: Account, item: Item) -> dict[str, Any]:
        return left[item.instance].pop(0)

    return answer


def test_second_expert_verifies_and_third_decides(desk: Office) -> None:
    experts = [desk.hire(name, "expert") for name in ("ann", "bob", "cem")]
    round = opened(desk)
    says = {"p0": [FIT, FIT], "p1": [UNFIT], "p2": [FIT, UNFIT, FIT], "p3": [FIT, UNFIT, UNFIT]}
    assert desk.work_off(experts, by_name(says, desk)) == 9
    found = final_verdicts(desk.people.store, round.id)
    passed = {i.name: found[i.id].verdict.passed for i in desk.instances}
    assert passed == {"p0": True, "p1": False, "p2": True, "p3": False}
    assert found[desk.instances[1].id].verdict.reason == CONTEXT
    assert dashboard.progress(desk.people.store, round.id).complete == 4
    # Nobody saw a job twice, and nothing says that the work on these jobs passes or fails.
    assert round.purpose is Purpose.QUALIFICATION
    assert not check(desk.store)
    rebuild(desk.store)
    assert {s: f.verdict for s, f in final_verdicts(desk.people.store, round.id).items()} == {
        s: f.verdict for s, f in found.items()
    }
    assert dashboard.agreement(desk.people.store, round.id).share.value == pytest.approx(1 / 3)


def test_rebuilt_queue_asks_for_missing_answers(desk: Office) -> None:
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    round = opened(desk)
    desk.work_off([ann], lambda account, item: FIT)
    assert dashboard.progress(desk.people.store, round.id).open == 4
    with desk.store.database.writing() as connection:
        for table in ("items", "assignments", "queues"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    assert refill_queue(desk.people.store, round.id, clock=desk.people.clock) == 4
    assert dashboard.progress(desk.people.store, round.id).open == 4
    assert desk.work_off([ann, bob], lambda account, item: FIT) == 4


def test_struck_answer_is_given_by_somebody_else(desk: Office) -> None:
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    admin = desk.hire("dana", "admin", "reviewer")
    round = opened(desk)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    said = desk.people.judging.submit(item.id, ann, UNFIT, "k")
    amend(
        desk.people.store,
        admin,
        AmendmentAction.STRIKE,
        AmendmentTarget.EVALUATION,
        said.id,
        "it was another job",
        clock=desk.people.clock,
    )
    assert desk.work_off([bob], lambda account, item: UNFIT) == 4
    verdict = final_verdicts(desk.people.store, round.id)[said.subject].verdict
    assert (verdict.standing, verdict.passed) == (Standing.DECIDED, False)


def test_questions_belong_to_the_round(desk: Office, tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(
        '[[question]]\nname = "licence"\ntext = "May it be used?"\ndecides = true\n'
        '[[question]]\nname = "difficulty"\ntext = "How hard is it?"\nanswers = ["low", "high"]\n'
    )
    questions = read_questions(path)
    looks = store_looks(desk.store, {i.id: {"shown": f"found in {i.name}"} for i in desk.instances})
    ann = desk.hire("ann", "expert")
    round = opened(desk, questions=questions, looks=looks)
    assert round.versions[DECIDES].split() == [q.name for q in CORE] + ["licence"]
    item = desk.people.drafting.claim(ann)
    assert item is not None and item.notes == f"found in {item.instance.removeprefix('report/')}"
    assert [pane.label for pane in item.shown] == ["Reference"]
    names = [ask.name for ask in item.asks]
    assert names[-1] == "acceptance_criteria" and {"licence", "licence_why", "difficulty"} <= set(names)
    with pytest.raises(InvalidAnswer) as e:
        desk.people.judging.submit(item.id, ann, {**FIT, "licence": "no", "extra": "1", "difficulty": "medium"}, "k")
    assert set(e.value.faults) == {"licence_why", "difficulty", "extra"}
    with pytest.raises(InvalidAnswer) as e:
        wrong = {**FIT, "licence": "yes", "difficulty": "low", "acceptance_criteria": "must be good"}
        desk.people.judging.submit(item.id, ann, wrong, "k")
    assert set(e.value.faults) == {"acceptance_criteria"}
    rubric = "critical - Has 12 rows\n- Pitfall: names a person"
    said = {**FIT, "licence": "no", "licence_why": "unclear", "difficulty": "low", "acceptance_criteria": rubric}
    payload = desk.people.judging.submit(item.id, ann, said, "k").payload
    assert isinstance(payload, Labels)
    assert payload.reasons == {"licence": "unclear"} and payload.labels["difficulty"] == "low"
    assert [c.importance for c in payload.criteria.leaves] == [Importance.CRITICAL, Importance.PITFALL]
    verdict = final_verdicts(desk.people.store, round.id)[item_subject(desk, item)].verdict
    assert (verdict.passed, verdict.reason) == (False, "licence")


def item_subject(desk: Office, item: Item) -> str:
    return next(i.id for i in desk.instances if i.key == item.instance)


FAULTS = {
    '[[question]]\nname = "context_complete"\ntext = "x"\n': "is taken",
    '[[question]]\nname = "a"\ntext = "x"\n[[question]]\nname = "a"\ntext = "y"\n': "is taken",
    '[[question]]\nname = "a_why"\ntext = "x"\n': "ends like a reason",
    '[[question]]\nname = "a"\ntext = "x"\nanswers = ["b"]\n': "at least two answers",
    '[[question]]\nname = "a"\ntext = "x"\nanswers = ["b", "c"]\ndecides = true\n': "must be answered by yes or no",
    '[[question]]\nname = "a"\n': "text",
    "": "has no question",
}


@pytest.mark.parametrize("written", FAULTS)
def test_faulty_questions_file_names_the_place(written: str, tmp_path: Path) -> None:
    path = tmp_path / "q.toml"
    path.write_text(written)
    with pytest.raises(ManifestError, match=FAULTS[written]):
        read_questions(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"experiment": "x1", "subjects": ()},
        {"overlap": 2},
        {"rule": ResolutionRule.MEAN},
        {"kind": RoundKind.TAGS, "questions": (Question(name="a", text="b"),)},
        {"kind": RoundKind.HOLISTIC, "rule": ResolutionRule.VERIFIED},
    ],
)
def test_invalid_qualification_round_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        PeopleRound(**{"kind": RoundKind.QUALIFICATION, "subjects": ("i",), **wrong})


@given(
    votes=st.lists(st.booleans(), max_size=4), rule=st.sampled_from([ResolutionRule.VERIFIED, ResolutionRule.TIE_BREAK])
)
def test_job_needs_as_many_votes_as_decide_it(votes: list[bool], rule: ResolutionRule) -> None:
    overlap = 1 if rule is ResolutionRule.VERIFIED else 2
    asked: list[bool] = []
    while len(asked) < votes_wanted(rule, overlap, asked) and len(asked) < len(votes):
        asked.append(votes[len(asked)])
    # Whoever was not asked for changes nothing.
    assert is_qualified(rule, overlap, votes) == is_qualified(rule, overlap, asked)
    if len(asked) == votes_wanted(rule, overlap, asked):
        first = asked[:1] == [False] and rule is ResolutionRule.VERIFIED
        plain = False if first else asked[0] if asked[0] == asked[1] else asked[2]
        assert is_qualified(rule, overlap, votes) is plain
