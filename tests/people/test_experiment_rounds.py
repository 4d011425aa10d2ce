"""Rounds that an experiment opens for people: opened once, topped up, and completed after a kill at any step."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete, func, select

from people.worlds import Office, office
from worksample.people.rounds.experiment_rounds import WAIVED, ExperimentRounds, effort_of
from worksample.records import (
    By,
    Criteria,
    EvaluatorKind,
    Experiment,
    Grading,
    Instance,
    Protocol,
    Round,
    Slot,
    Submission,
)
from worksample.store.people_tables import items, queues


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=2, projects=2)


def fill(desk: Office, protocol: Protocol) -> int:
    return ExperimentRounds(clock=desk.clock).fill(desk.store, desk.store.get(Experiment, "x1"), protocol)


def given_out(desk: Office, round: str) -> int:
    with desk.store.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(items).where(items.c.queue == round)).scalar_one()


def test_round_is_opened_once_and_topped_up(desk: Office) -> None:
    assert fill(desk, Protocol.HOLISTIC) == 4
    assert fill(desk, Protocol.HOLISTIC) == 0
    [round] = desk.store.find(Round)
    assert (round.by, round.experiment, round.versions["people.waived_pilot"]) == (EvaluatorKind.PERSON, "x1", WAIVED)
    desk.deliver_late("maker-0")
    assert fill(desk, Protocol.HOLISTIC) == 1
    assert (desk.store.find(Round), given_out(desk, round.id)) == ([round], 5)


@pytest.mark.parametrize("late", [False, True])
def test_round_killed_before_its_queue_is_completed(desk: Office, late: bool) -> None:
    fill(desk, Protocol.RUBRIC)
    [round] = desk.store.find(Round)
    with desk.store.database.writing() as connection:
        connection.execute(delete(items))
        connection.execute(delete(queues))
    if late:
        desk.deliver_late("maker-0")
    assert fill(desk, Protocol.RUBRIC) == 4 + late
    assert (desk.store.find(Round), given_out(desk, round.id)) == ([round], 4 + late)


def test_pairs_are_drawn_when_no_slot_is_open(desk: Office) -> None:
    late = Slot(id="late", experiment="x1", agent=desk.makers[0].id, instance=desk.instances[0].id, repeat=2)
    desk.store.commit(late)
    assert fill(desk, Protocol.PAIRWISE) == 0
    desk.deliver_late("maker-0")
    assert fill(desk, Protocol.PAIRWISE) == 2
    assert fill(desk, Protocol.PAIRWISE) == 0
    assert len(desk.store.find(Round)) == 1


def test_single_agent_has_no_pairs(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=2)
    assert fill(desk, Protocol.PAIRWISE) == 0
    assert desk.store.find(Round) == []


def test_people_answer_criteria_that_a_program_leaves(tmp_path: Path) -> None:
    class Mixed(Office):
        def _instance(self, n: int, reference: str) -> Instance:
            base = super()._instance(n, reference)
            first, *rest = base.grading[Protocol.RUBRIC].criteria.criteria
            by = By.PERSON if n == 0 else By.PROGRAM
            nodes = (first.model_copy(update={"by": by}), *(c.model_copy(update={"by": By.PROGRAM}) for c in rest))
            grading = base.grading[Protocol.RUBRIC].replaced(criteria=Criteria(criteria=nodes), protocol="program")
            return base.replaced(grading={Protocol.PROGRAM: Grading.model_validate(grading.plain())})

    from worksample.store import Store

    desk = Mixed(Store.open(tmp_path / "s", create=True), agents=2, projects=2)
    assert fill(desk, Protocol.PROGRAM) == 2
    [round] = desk.store.find(Round)
    assert (round.protocol, round.by) == (Protocol.PROGRAM, EvaluatorKind.PERSON)
    asked = {desk.store.get(Submission, s).instance for s in told(desk)}
    assert asked == {desk.instances[0].id}


def told(desk: Office) -> list[str]:
    with desk.store.database.reading() as connection:
        return list(connection.execute(select(items.c.subject)).scalars())


def test_effort_is_votes_times_minutes_of_the_form() -> None:
    holistic, rubric = effort_of(Protocol.HOLISTIC), effort_of(Protocol.RUBRIC, overlap=2)
    assert (holistic.votes, holistic.minutes, rubric.votes, rubric.minutes) == (3, 20, 2, 20)
    assert effort_of(Protocol.PAIRWISE).votes == 2
