"""Work that broke its grader is distinguished from platform faults, and counts 0 in bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.people_world import PeopleWorld
from store import worlds
from worksample.errors import POLICY, Cause
from worksample.records import Agent, Evaluation, EvaluationOutcome, GradePayload, Protocol
from worksample.reports import leaderboard
from worksample.reports.sections import measure
from worksample.results.result_set import ResultSet
from worksample.store import Store

BY_DELIVERABLE = {
    Cause.GRADER_CRASH, Cause.GRADER_TIME, Cause.GRADER_MEMORY, Cause.GRADER_OUTPUT, Cause.GRADER_STATE,
    Cause.GRADER_COLLECT, Cause.GRADER_MALFORMED, Cause.JUDGE_REFUSED, Cause.JUDGE_BLIND,
}  # fmt: skip


def failed(world: PeopleWorld, project: int, cause: Cause) -> None:
    subject = world.work(0, project)
    world.store.commit(
        Evaluation(
            id=f"f{project}", round="r1", subject=subject, instance=world.instances[project].id, evaluator="eva",
            outcome=EvaluationOutcome.FAILED, cause=cause, author="me", at=worlds.at(9),
        )
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One passes, one fails; one breaks its grader; the box of one is lost."""
    store = Store.open(tmp_path / "s", create=True)
    world = PeopleWorld(store, Protocol.PROGRAM, [Agent.of("ann", "worker")], [1.0] * 4)
    world.round("r1", Protocol.PROGRAM, 1)
    for n, score in enumerate((1.0, 0.0)):
        world.say("r1", world.work(0, n), n, GradePayload(score=score))
    failed(world, 2, Cause.GRADER_MEMORY)
    failed(world, 3, Cause.GRADER_SANDBOX)
    return store


def test_leaderboard_counts_it_separately(store: Store) -> None:
    [row] = leaderboard(store).rows
    assert (row.passed.value, row.valid, row.ungraded, row.broken) == (0.5, 2, 2, 1)
    assert row.bounds == (0.25, 0.5)
    assert row.rest == "1 ungraded: the deliverable crashed its grader, 1 ungraded (pass between 25.0 % and 50.0 %)"
    assert row.plain()["broken"] == 1


def test_frame_marks_it(store: Store) -> None:
    work = ResultSet(store, leaderboard(store).experiments)
    frame = work.frame(Protocol.PROGRAM)
    assert dict(frame.select("submission", "broken").iter_rows()) == {
        "s-ann-0-1": False, "s-ann-1-1": False, "s-ann-2-1": True, "s-ann-3-1": False,
    }  # fmt: skip


@pytest.mark.parametrize("cause", [Cause.JUDGE_UNSHOWN, Cause.JUDGE_BLIND, Cause.PERSON_UNSHOWN])
def test_uninspected_work_is_counted_on_the_board(store: Store, cause: Cause) -> None:
    """Of a kind that the agent chose, it is 0 where the rate is bounded; what we could not show is not."""
    [lost] = store.find(Evaluation, subject="s-ann-3-1")
    store.commit(
        Evaluation(
            id="later", round="r1", subject="s-ann-3-1", instance=lost.instance,
            evaluator="eva", outcome=EvaluationOutcome.FAILED, cause=cause, author="me", at=worlds.at(10),
        )
    )  # fmt: skip
    [row] = leaderboard(store).rows
    assert (row.unseen, row.ungraded) == (1, 2)
    assert "1 ungraded: the evaluator could not see all of it" in row.rest
    assert "1 ungraded: the deliverable crashed its grader" in row.rest
    assert row.bounds == ((0.25, 0.25) if cause is Cause.JUDGE_BLIND else (0.25, 0.5))
    notes = [note for section in measure(store) for note in section.notes]
    assert f"1 of 4 are ungraded because the evaluator could not see all of the work ({cause.value}: 1)" in notes


def test_only_causes_by_a_deliverable_count_as_its_own() -> None:
    assert {cause for cause, policy in POLICY.items() if policy.by_deliverable} == BY_DELIVERABLE
