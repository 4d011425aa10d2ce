"""A regrade decides once it is complete and adopted; killed at any step, earlier verdicts stand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from forking.child import ended
from grading.helpers_grading import Bench, bench
from worksample.errors import UsageError
from worksample.experiments.experiment_runner import RunOptions
from worksample.experiments.regrade_pipeline import Regraded, Regrading, regrade
from worksample.experiments.rounds import current_round
from worksample.experiments.status import status_of
from worksample.experiments.strike_and_restore import amend
from worksample.grading import grade_all
from worksample.records import (
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Arm,
    Ending,
    Experiment,
    Lock,
    Origin,
    Protocol,
    Purpose,
    Round,
    Slot,
    Trial,
    TrialOutcome,
    now,
)
from worksample.results.slot_results import slots_df
from worksample.store import Store

pytestmark = pytest.mark.box
ANSWERS = ("1", "1.", "2")
LENIENT = ('exact(case.output("answer.txt"),', 'exact(case.text("answer.txt").rstrip("."),')
BROKEN = ("def grade(case: Case) -> Grade:\n", "def grade(case: Case) -> Grade:\n    raise RuntimeError('no good')\n")


@dataclass
class Regradable:
    made: Bench
    experiment: Experiment

    @property
    def store(self) -> Store:
        return self.made.store

    def change(self, change: tuple[str, str]) -> None:
        grader = self.made.package / "grade.py"
        assert change[0] in grader.read_text()
        grader.write_text(grader.read_text().replace(*change))

    def regrade(self, **rest: object) -> Regraded:
        fixed = {"experiment": self.experiment, "packages": (self.made.package,), "author": "me"}
        fixed |= {"options": RunOptions(graders=1)}
        return regrade(self.store, Regrading(**(fixed | rest)))  # type: ignore[arg-type]

    def scores(self) -> list[float | None]:
        frame = slots_df(self.store, "x1").sort("repeat")
        return frame["score"].to_list()

    def regrades(self) -> list[Round]:
        return [r for r in self.store.find(Round) if r.purpose is Purpose.REGRADE]


PROGRAMS = '[[criterion]]\nid = "right"\ntext = "The answer is right."\npoints = 2\n'


@pytest.fixture
def world(tmp_path: Path) -> Regradable:
    """Three trials of one agent; by the grader, who decides alone, the first is right, the others are not."""
    return regradable(bench(tmp_path, "right", criteria=PROGRAMS))


def regradable(made: Bench) -> Regradable:
    agent, instance = Agent.of("ann", "worker"), made.instance
    lock = Lock(suite="s", instances=(instance.id,), protocol=Protocol.PROGRAM, sandbox="bubblewrap")
    experiment = Experiment(
        id="x1", name="x", agents=(agent.id,), arms=(Arm(),), repeats=3, lock=lock, author="me", at=now()
    )
    made.store.commit(agent, experiment)
    for n, answer in enumerate(ANSWERS, 1):
        slot = Slot(id=f"slot-{n}", experiment="x1", agent=agent.id, instance=instance.id, repeat=n)
        trial = Trial(
            id=f"t{n}", slot=slot.id, experiment="x1", agent=agent.id, instance=instance.id, try_number=1,
            work=instance.work_digest, capture=instance.capture_digest, outcome=TrialOutcome(ending=Ending.DONE),
            started=now(), ended=now(), working_seconds=1,
        )  # fmt: skip
        made.store.commit(slot, trial)
        made.submit({"answer.txt": answer}, origin=Origin.TRIAL, entrant=agent.id, trial=trial.id, experiment="x1")
    asyncio.run(grade_all(made.store, current_round(made.store, experiment)))
    return Regradable(made, experiment)


def test_criteria_left_to_people_wait_unless_the_program_failed_the_work(tmp_path: Path) -> None:
    mixed = regradable(bench(tmp_path, "right"))
    status = status_of(mixed.store, mixed.experiment)
    assert (status.graded, status.waits_for_people, status.ungraded, status.complete) == (0, 3, 0, True)
    mixed.change(BROKEN)
    done = mixed.regrade()
    amend(mixed.store, action="adopt", target="round", id=done.round.id, reason="to see", author="me")
    status = status_of(mixed.store, mixed.experiment)
    assert (status.waits_for_people, status.ungraded, status.complete) == (0, 3, False)


def test_complete_regrade_is_adopted_with_author_and_reason(world: Regradable) -> None:
    before = current_round(world.store, world.experiment)
    world.change(LENIENT)
    done = world.regrade(reason="full stops are fine")
    assert (done.adopted, done.lost, world.scores()) == (True, (), [1.0, 1.0, 0.0])
    [made] = world.store.find(Amendment)
    assert (made.action, made.target, made.target_id) == (AmendmentAction.ADOPT, AmendmentTarget.ROUND, done.round.id)
    assert (made.author, made.reason) == ("me", "full stops are fine")
    assert (done.round.purpose, done.round.over) == (Purpose.REGRADE, before.id)
    assert current_round(world.store, world.experiment).id == done.round.id
    amend(world.store, action="adopt", target="round", id=before.id, reason="back", author="me")
    assert world.scores() == [1.0, 0.0, 0.0]


KILLED = """
import os, sys
from pathlib import Path
from worksample.experiments.regrade_pipeline import Regrading, regrade
from worksample.experiments.experiment_runner import RunOptions
from worksample.experiments.run_listener import SilentListener
from worksample.records import Experiment
from worksample.store import Store

class Kills(SilentListener):
    def begin(self, tally):
        if sys.argv[3] == "begin":
            os.kill(os.getpid(), 9)

    def on_grade(self, evaluation, submission, instance):
        os.kill(os.getpid(), 9)

store = Store.open(sys.argv[1])
packages = (Path(sys.argv[2]),)
what = Regrading(experiment=store.get(Experiment, "x1"), packages=packages, author="me", options=RunOptions(graders=1))
regrade(store, what, Kills())
"""


@pytest.mark.quick("kills0")
@pytest.mark.parametrize("kills", [["begin"], ["graded", "graded"]])
def test_regrade_killed_at_any_step_keeps_earlier_verdicts(world: Regradable, kills: list[str]) -> None:
    world.change(LENIENT)
    for step in kills:
        killed = ended("forking.code", KILLED, world.made.folder / "store", world.made.package, step)
        assert killed.returncode == -9
        world.store.sync()
        assert world.scores() == [1.0, 0.0, 0.0]
        assert status_of(world.store, world.experiment).graded == 3
        assert not world.store.find(Amendment)
    [begun] = world.regrades()
    done = world.regrade()
    assert (done.round.id, done.adopted, world.scores()) == (begun.id, True, [1.0, 1.0, 0.0])
    assert [r.id for r in world.regrades()] == [begun.id]


def test_broken_grader_hides_nothing_unless_adopted(world: Regradable) -> None:
    before = current_round(world.store, world.experiment)
    world.change(BROKEN)
    done = world.regrade()
    assert (done.adopted, len(done.lost), world.scores()) == (False, 3, [1.0, 0.0, 0.0])
    assert current_round(world.store, world.experiment).id == before.id
    again = world.regrade()
    assert (again.round.id, again.adopted) == (done.round.id, False)
    amend(world.store, action="adopt", target="round", id=done.round.id, reason="all the same", author="me")
    assert world.scores() == [None, None, None]
    assert status_of(world.store, world.experiment).ungraded == 3


def test_partial_regrade_decides_only_its_submissions(world: Regradable) -> None:
    world.change(LENIENT)
    [second] = slots_df(world.store, "x1").filter(repeat=2)["submission"].to_list()
    done = world.regrade(experiment=None, submissions=(second,))
    assert (done.adopted, [c.subject for c in done.changes]) == (True, [second])
    assert world.scores() == [1.0, 1.0, 0.0]
    frame = slots_df(world.store, "x1").sort("repeat")
    assert frame["rounds"].to_list()[1] == [done.round.id]


def test_regrade_without_grades_is_not_adopted(world: Regradable) -> None:
    look = current_round(world.store, world.experiment).replaced(id="look", purpose=Purpose.INTEGRITY)
    world.store.commit(look)
    for target, id in (("round", "look"), ("trial", "t1")):
        with pytest.raises(UsageError, match="cannot decide verdicts, so it cannot be adopted"):
            amend(world.store, action="adopt", target=target, id=id, reason="x", author="me")
