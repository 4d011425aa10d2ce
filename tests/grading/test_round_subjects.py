"""Subjects of a round: those it lists, or the live submissions of its experiment."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.helpers_grading import Bench, bench
from worksample.errors import Cause
from worksample.grading import open_round, subjects
from worksample.grading.grade_round import live_submissions
from worksample.records import (
    Agent,
    Arm,
    Ending,
    Experiment,
    Lock,
    Origin,
    Protocol,
    Slot,
    Submission,
    Trial,
    TrialOutcome,
    now,
)

DONE = TrialOutcome(ending=Ending.DONE)
LOST = TrialOutcome(ending=Ending.FAILED, cause=Cause.SANDBOX_LOST, reason="gone")


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path, "right")


def experiment(made: Bench, id: str) -> Experiment:
    """With one slot, in which nothing was tried."""
    agent, instance = Agent.of("ann", "worker"), made.instance
    lock = Lock(suite="s", instances=(instance.id,), protocols=(Protocol.PROGRAM,), sandbox="bubblewrap")
    found = Experiment(id=id, name=id, agents=(agent.id,), arms=(Arm(),), repeats=1, lock=lock, author="me", at=now())
    made.store.commit(
        agent, found, Slot(id=f"{id}-slot", experiment=id, agent=agent.id, instance=instance.id, repeat=1)
    )
    return found


def tried(made: Bench, world: Experiment, number: int, outcome: TrialOutcome) -> Submission:
    """What a try of the slot left."""
    trial = Trial(
        id=f"{world.id}-{number}", slot=f"{world.id}-slot", experiment=world.id, agent=world.agents[0],
        instance=made.instance.id, try_number=number, work=made.instance.work_digest,
        capture=made.instance.capture_digest, outcome=outcome, started=now(), ended=now(), working_seconds=1,
    )  # fmt: skip
    made.store.commit(trial)
    return made.submit({"answer.txt": "1"}, origin=Origin.TRIAL, trial=trial.id, experiment=world.id)


def test_experiment_round_has_live_submissions_and_controls(made: Bench) -> None:
    here, elsewhere = experiment(made, "here"), experiment(made, "elsewhere")
    tried(made, here, 1, LOST)
    counts = tried(made, here, 2, DONE)
    by_hand = made.submit({"answer.txt": "2"}, experiment=here.id)
    tried(made, elsewhere, 1, DONE)
    made.submit({"answer.txt": "3"})
    round = open_round(made.store, experiment=here.id, author="test")
    assert {s.id for s in subjects(made.store, round)} == {counts.id, by_hand.id}
    assert {s.id for s in live_submissions(made.store, here.id)} == {counts.id, by_hand.id}


def test_listed_subjects_keep_their_order(made: Bench) -> None:
    one, two = made.submit({"answer.txt": "1"}), made.submit({"answer.txt": "2"})
    made.submit({"answer.txt": "3"})
    round = open_round(made.store, subjects=(two.id, one.id), author="test")
    assert subjects(made.store, round) == [two, one]
