"""Claiming, drafting and handing in: what evaluators can and cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from people.worlds import Office, folder_of, office
from worksample.errors import UsageError
from worksample.people import (
    Conflict,
    InvalidAnswer,
    NotReady,
    NotYours,
    Profile,
    RoundKind,
    all_flags,
    amend,
    final_verdicts,
    raise_flag,
    set_state,
    top_up,
)
from worksample.people.judging.item import panes_of
from worksample.people.quality import round_dashboard as dashboard
from worksample.people.rounds.queues import find_queue
from worksample.records import (
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Protocol,
    ResolutionRule,
    Standing,
)
from worksample.store import check
from worksample.store.people_tables import items

YES: dict[str, Any] = {"score": 2, "justification": "report.txt has it all"}
NO: dict[str, Any] = {"score": 1, "justification": "report.txt is empty"}


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path)


def test_item_reveals_no_maker(desk: Office) -> None:
    ann = desk.hire("ann", "evaluator", "expert", "reviewer")
    rounds = [desk.open(), desk.open(RoundKind.PAIRWISE), desk.open(RoundKind.RUBRIC), desk.open(RoundKind.TAGS)]
    for round in rounds:
        item = desk.people.drafting.claim(ann, round.id)
        assert item is not None
        text = json.dumps(item.plain())
        for secret in ("maker-", "lab/", "model-", "s-maker", "t-maker", "trial", "cost", "x1"):
            assert secret not in text, (round.protocol, secret)
        hidden = desk.people.drafting.hidden_words(item.id, ann)
        assert any(word.startswith("maker-") for word in hidden) and any(word.startswith("model-") for word in hidden)


def test_panes_follow_the_protocol(desk: Office) -> None:
    ann = desk.hire("ann", "evaluator", "expert")
    labels = {}
    for kind, rest in (
        (RoundKind.HOLISTIC, {}),
        (RoundKind.PAIRWISE, {}),
        (RoundKind.RUBRIC, {}),
        (RoundKind.RUBRIC, {"reference": True}),
    ):
        item = desk.people.drafting.claim(ann, desk.open(kind, **rest).id)
        assert item is not None
        labels[kind, bool(rest)] = ([p.label for p in item.shown], item.soft_limit_minutes)
    assert labels == {
        (RoundKind.HOLISTIC, False): (["Reference", "Alternative"], 20),
        (RoundKind.PAIRWISE, False): (["Reference", "AD-1", "AD-2"], 30),
        (RoundKind.RUBRIC, False): (["Deliverable"], 20),
        (RoundKind.RUBRIC, True): (["Reference", "Deliverable"], 20),
    }


def test_pane_shows_only_the_visible_part_of_a_reference(tmp_path: Path) -> None:
    desk = office(tmp_path, projects=1, agents=1)
    (instance,), round = desk.instances, desk.open().id
    with desk.store.database.reading() as connection:
        queue, row = find_queue(connection, round), connection.execute(select(items)).one()
    seen, nothing = folder_of(desk.store, {"report.txt": b"report"}), folder_of(desk.store, {})
    whole, part, none = (
        [(p.label, p.manifest) for p in panes_of(desk.store, queue, row, False, one)]
        for one in (instance, instance.replaced(shown_reference=seen), instance.replaced(shown_reference=nothing))
    )
    assert whole[0] == ("Reference", instance.grading[Protocol.HOLISTIC].reference)
    assert part == [("Reference", seen), *whole[1:]]
    assert none == whole[1:]


def test_item_of_another_person_seems_not_to_exist(desk: Office) -> None:
    ann, bob = desk.hire("ann"), desk.hire("bob")
    desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    for id in (item.id, "0" * 24, "nul\x00", "\ud800", "' OR 1=1 --", ""):
        for attempt in (
            lambda id=id: desk.people.drafting.item(bob, id),
            lambda id=id: desk.people.judging.submit(id, bob, YES, "k"),
            lambda id=id: desk.people.drafting.save(id, bob, 0, {}),
            lambda id=id: desk.people.leasing.heartbeat(id, bob),
            lambda id=id: desk.people.judging.skip(id, bob, "why not"),
            lambda id=id: desk.people.leasing.release(id, bob),
            lambda id=id: raise_flag(desk.people.store, id, bob, "other", "x", clock=desk.people.clock),
            lambda id=id: desk.people.drafting.mark_seen(id, bob, "Reference", "a"),
            lambda id=id: desk.people.judging.earlier_votes(id, bob),
        ):
            with pytest.raises(NotYours, match=r"^you have no such item\n  next: take the next item$"):
                attempt()
    assert desk.people.drafting.history(bob) == []


def test_second_hand_in_counts_once(desk: Office) -> None:
    ann = desk.hire("ann")
    round = desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    first = desk.people.judging.submit(item.id, ann, YES, "k1")
    assert desk.people.judging.submit(item.id, ann, YES, "k1") == first
    for payload, key in ((NO, "k2"), (YES, "k2")):
        with pytest.raises(Conflict):
            desk.people.judging.submit(item.id, ann, payload, key)
    assert dashboard.progress(desk.people.store, round.id).given == 1
    following = desk.people.drafting.claim(ann)
    assert following is not None and following.id != item.id


def test_expired_lease_passes_on_and_its_draft_stays(desk: Office) -> None:
    ann, bob = desk.hire("ann"), desk.hire("bob")
    round = desk.open(subjects=("s-maker-0.p0",), overlap=1, rule=ResolutionRule.LATEST)
    item = desk.people.drafting.claim(ann)
    assert item is not None and desk.people.drafting.claim(bob) is None
    desk.people.drafting.save(item.id, ann, 0, {"score": 2})
    desk.clock.pass_(14 * 60)
    desk.people.leasing.heartbeat(item.id, ann)
    desk.clock.pass_(14 * 60)
    assert desk.people.drafting.claim(bob) is None, "the heartbeat kept it"
    desk.clock.pass_(2 * 60)
    taken = desk.people.drafting.claim(bob)
    assert taken is not None and taken.id == item.id and taken.draft is None
    with pytest.raises(Conflict, match="given to others"):
        desk.people.judging.submit(item.id, ann, YES, "k")
    desk.people.leasing.release(taken.id, bob)
    again = desk.people.drafting.claim(ann)
    assert again is not None and again.draft is not None and again.draft.payload == {"score": 2}
    desk.people.judging.submit(again.id, ann, YES, "k")
    assert dashboard.progress(desk.people.store, round.id).complete == 1


def test_drafts_have_revisions_and_time_counts_once(desk: Office) -> None:
    ann = desk.hire("ann")
    desk.open(most_open=2)
    one, other = desk.people.drafting.claim(ann), desk.people.drafting.claim(ann, ahead=True)
    assert one is not None and other is not None and one.id != other.id
    desk.clock.pass_(60)
    assert desk.people.drafting.save(one.id, ann, 0, {"a": 1}, 50).active_seconds == 50
    # The same minute from another window, and more than has passed: neither counts.
    assert desk.people.drafting.save(other.id, ann, 0, {}, 50).active_seconds == 0
    desk.clock.pass_(10)
    assert desk.people.drafting.save(one.id, ann, 1, {"a": 2}, 3600).active_seconds == 60
    # Sent again because the answer was lost: the same revision, nothing counted.
    draft = desk.people.drafting.save(one.id, ann, 1, {"a": 2}, 3600)
    assert (draft.revision, draft.active_seconds) == (2, 60)
    with pytest.raises(Conflict, match="its newest revision is 2, not 1"):
        desk.people.drafting.save(one.id, ann, 1, {"a": 3})
    assert desk.people.drafting.item(ann, one.id).draft == draft
    evaluation = desk.people.judging.submit(one.id, ann, YES, "k")
    assert evaluation.minutes == 1.0
    assert desk.people.drafting.item(ann, one.id).draft is None


def test_skip_is_a_declined_evaluation_and_the_item_passes_on(desk: Office) -> None:
    ann, bob = desk.hire("ann"), desk.hire("bob")
    round = desk.open(subjects=("s-maker-0.p0",), overlap=1, rule=ResolutionRule.LATEST)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    with pytest.raises(InvalidAnswer):
        desk.people.judging.skip(item.id, ann, "  ")
    raise_flag(desk.people.store, item.id, ann, "broken file", "report.txt does not open", clock=desk.people.clock)
    assert desk.people.judging.skip(item.id, ann, "I cannot read Finnish").outcome is EvaluationOutcome.DECLINED
    assert desk.people.drafting.claim(ann) is None
    taken = desk.people.drafting.claim(bob)
    assert taken is not None
    desk.people.judging.submit(taken.id, bob, YES, "k")
    assert final_verdicts(desk.people.store, round.id)["s-maker-0.p0"].verdict.passed
    assert [(f.kind, f.text) for f in all_flags(desk.people.store)] == [("broken file", "report.txt does not open")]
    assert dashboard.progress(desk.people.store, round.id).skipped == 1


def test_skipped_item_is_taken_back_until_somebody_else_gets_it(desk: Office) -> None:
    ann, bob = desk.hire("ann"), desk.hire("bob")
    round = desk.open(subjects=("s-maker-0.p0",), overlap=1, rule=ResolutionRule.LATEST)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    with pytest.raises(Conflict, match="you have not handed in"):
        desk.people.judging.own_answer(item.id, ann)
    desk.people.judging.skip(item.id, ann, "by mistake")
    assert desk.people.judging.own_answer(item.id, ann).reason == "by mistake"
    with pytest.raises(NotYours):
        desk.people.leasing.take_back(item.id, bob)
    set_state(desk.people.store, round.id, "paused")
    with pytest.raises(Conflict, match="paused"):
        desk.people.leasing.take_back(item.id, ann)
    set_state(desk.people.store, round.id, "open")
    for _ in range(2):
        desk.people.leasing.take_back(item.id, ann)
    assert desk.people.drafting.claim(bob) is None, "it is out again"
    again = desk.people.drafting.claim(ann)
    assert again is not None and again.id == item.id
    desk.people.judging.skip(item.id, ann, "for good")
    assert desk.people.drafting.claim(bob) is not None
    with pytest.raises(Conflict, match="given to others"):
        desk.people.leasing.take_back(item.id, ann)
    desk.people.leasing.release(item.id, bob)
    desk.people.leasing.take_back(item.id, ann)
    said = desk.people.judging.submit(item.id, ann, YES, "k")
    assert desk.people.judging.own_answer(item.id, ann) == said
    progress = dashboard.progress(desk.people.store, round.id)
    assert (progress.given, progress.skipped, progress.open) == (1, 0, 0)
    assert final_verdicts(desk.people.store, round.id)["s-maker-0.p0"].verdict.passed
    with pytest.raises(Conflict, match="not skipped"):
        desk.people.leasing.take_back(item.id, ann)


def test_taken_back_items_respect_the_limit_of_open_items(desk: Office) -> None:
    ann = desk.hire("ann")
    desk.open(most_open=1)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    desk.people.judging.skip(item.id, ann, "by mistake")
    other = desk.people.drafting.claim(ann)
    assert other is not None
    with pytest.raises(Conflict, match="too many"):
        desk.people.leasing.take_back(item.id, ann)
    desk.people.leasing.release(other.id, ann)
    desk.people.leasing.take_back(item.id, ann)


def test_struck_vote_is_asked_of_somebody_else(desk: Office) -> None:
    ann, bob, dana = desk.hire("ann"), desk.hire("bob"), desk.hire("dana", "admin")
    round = desk.open(subjects=("s-maker-0.p0",), overlap=1, rule=ResolutionRule.LATEST)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    said = desk.people.judging.submit(item.id, ann, YES, "k")
    amend(
        desk.people.store,
        dana,
        AmendmentAction.STRIKE,
        AmendmentTarget.EVALUATION,
        said.id,
        "did not open the file",
        clock=desk.people.clock,
    )
    assert final_verdicts(desk.people.store, round.id)["s-maker-0.p0"].verdict.standing is Standing.UNGRADED
    assert desk.people.drafting.claim(ann) is None
    taken = desk.people.drafting.claim(bob)
    assert taken is not None
    desk.people.judging.submit(taken.id, bob, NO, "k")
    assert final_verdicts(desk.people.store, round.id)["s-maker-0.p0"].verdict.passed is False
    assert desk.store.get(Evaluation, said.id) == said
    assert check(desk.store) == []


def test_rubrics_give_grades_with_reasons_and_causes(desk: Office) -> None:
    eve = desk.hire("eve", "expert")
    round = desk.open(RoundKind.RUBRIC, subjects=("s-maker-0.p0", "s-maker-0.p1"))
    item = desk.people.drafting.claim(eve)
    assert item is not None and [c.id for c in item.criteria.leaves] == ["title", "sums", "tidy"]
    marks = {"title": "pass", "sums": "fail", "tidy": "not_applicable"}
    with pytest.raises(InvalidAnswer) as caught:
        desk.people.judging.submit(item.id, eve, {"marks": {**marks, "more": "pass"}, "feedback": {}}, "k")
    assert set(caught.value.faults) == {"sums", "tidy", "more"}
    feedback = {"sums": "row 3 is off by ten", "tidy": "no layout was asked for"}
    grade = desk.people.judging.submit(item.id, eve, {"marks": marks, "feedback": feedback}, "k").payload
    assert isinstance(grade, GradePayload) and grade.score == 0.5
    other = desk.people.drafting.claim(eve)
    assert other is not None
    (shown,) = desk.behind(other)
    stuck = {"marks": {**marks, "sums": "cannot_judge"}, "feedback": feedback}
    desk.people.judging.submit(other.id, eve, stuck, "k")
    verdict = final_verdicts(desk.people.store, round.id)[shown].verdict
    assert verdict.standing is Standing.UNGRADED and "sums" in verdict.reason


@pytest.mark.parametrize(
    ("payload", "faults"),
    [
        ({}, {"score", "justification"}),
        ({"score": 4, "justification": "x"}, {"score"}),
        ({"score": True, "justification": "x"}, {"score"}),
        ({"score": 2, "justification": "   "}, {"justification"}),
        ({"score": 2, "justification": "x", "critical_flaw": "does not open"}, {"critical_flaw"}),
        ({"score": 2, "justification": "x" * 20_001}, {"justification"}),
        ({"score": 2, "justification": ["x"]}, {"justification"}),
        ({**YES, "evaluator": "somebody else"}, {"evaluator"}),
        ({**YES, "inspected": "yes"}, {"inspected"}),
        ({"score": 2, "justification": "half \ud800"}, {"justification"}),
        ({"score": 2, "justification": "nul \x00"}, {"justification"}),
        ({**YES, "recognised": "Grok"}, {"recognised"}),
    ],
)
def test_invalid_answers_name_their_questions(desk: Office, payload: dict[str, Any], faults: set[str]) -> None:
    ann = desk.hire("ann")
    desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    with pytest.raises(InvalidAnswer) as caught:
        desk.people.judging.submit(item.id, ann, payload, "k")
    assert set(caught.value.faults) == faults
    assert desk.store.find(Evaluation) == []


def test_critical_flaw_is_sufficient_reason(desk: Office) -> None:
    ann = desk.hire("ann")
    desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None and item.early_stop
    said = desk.people.judging.submit(item.id, ann, {"score": 1, "critical_flaw": "the file is empty"}, "k")
    assert said.payload is not None and said.record["critical_flaw"] == "the file is empty"


def test_roles_domains_training_and_pauses_decide_who_gets_items(desk: Office) -> None:
    people = desk.people
    ann, eve, rex = desk.hire("ann"), desk.hire("eve", "expert"), desk.hire("rex", "reviewer")
    new = people.accounts.accept(people.accounts.invite(["evaluator"]), "new", None)
    round = desk.open(domains=True)
    assert people.drafting.claim(rex) is None, "a reviewer's queue is another"
    with pytest.raises(NotReady, match="training"):
        people.drafting.claim(new, round.id)
    assert people.drafting.claim(new) is None
    assert people.drafting.claim(ann) is None, "no domain is named in the profile"
    far = people.accounts.set_profile(ann, Profile(domains=("upwork:writ",)))
    assert people.drafting.claim(far) is None
    near = people.accounts.set_profile(eve, Profile(domains=("upwork:writing",)))
    set_state(people.store, round.id, "paused")
    assert people.drafting.claim(near) is None
    set_state(people.store, round.id, "open")
    assert people.drafting.claim(near) is not None


def test_later_submissions_are_added(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=2, projects=2)
    ann = desk.hire("ann")
    round = desk.open()
    assert top_up(desk.people.store, round.id) == 0
    desk.deliver_late("maker-0")
    assert top_up(desk.people.store, round.id) == 1
    assert top_up(desk.people.store, round.id) == 0
    assert dashboard.progress(desk.people.store, round.id).wanted == 15
    assert desk.work_off([ann], lambda account, item: NO) == 5


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_negative_or_infinite_time_is_refused(desk: Office, seconds: float) -> None:
    ann = desk.hire("ann")
    desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    with pytest.raises(UsageError, match="is not a number of 0 seconds or more"):
        desk.people.drafting.save(item.id, ann, 0, {}, seconds)
    with pytest.raises(UsageError, match="is not a number of 0 seconds or more"):
        desk.people.judging.submit(item.id, ann, YES, "k", seconds)
    assert desk.people.drafting.item(ann, item.id).draft is None


def test_draft_with_lone_surrogates_is_refused(desk: Office) -> None:
    ann = desk.hire("ann")
    desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    for payload in ({"a": "\ud800"}, {"\udfff": 1}, {"a": float("nan")}):
        with pytest.raises(UsageError, match="the draft is not valid JSON"):
            desk.people.drafting.save(item.id, ann, 0, payload)
    assert desk.people.drafting.save(item.id, ann, 0, {"a": "\U0001f600 \x00"}).payload == {"a": "\U0001f600 \x00"}
