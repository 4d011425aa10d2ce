"""Disturbed chains: people who answer late or vanish, an agent or a rubric that changes midway."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from experiments import learners
from experiments.judged_by_people import hire
from experiments.learners import judge_by_reading
from experiments.test_any_protocol import planned, run
from experiments.test_chains import chained
from worksample.errors import WorksampleError
from worksample.experiments.planning.plan_preparation import prepare
from worksample.experiments.reattempt_slots import advance
from worksample.experiments.status import status_of
from worksample.experiments.strike_and_restore import amend
from worksample.people import People
from worksample.people.clock import now_in_microseconds
from worksample.records import Evaluation, Experiment, Fed, Slot, Submission, Trial
from worksample.results.reattempts.chain_state import chains_of
from worksample.store import Store, check
from worksample.store.people_tables import items

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
HOUR = 3_600_000_000


class Later:
    """So many hours from now."""

    def __init__(self, hours: float) -> None:
        self.hours = hours

    def __call__(self) -> int:
        return now_in_microseconds() + int(self.hours * HOUR)


def begun(store: Store, folder: Path) -> Experiment:
    """First attempts, both judged and failed."""
    config = chained(folder, arms=("people",))
    experiment = planned(store, config)
    people, [ann, _] = hire(store, "ann", "bob")
    run(store, experiment, config)
    assert judge_by_reading(store, people, ann) == 2
    return experiment


def fed(store: Store) -> dict[str, Fed]:
    return {t.id: t.fed for t in store.find(Trial) if t.fed}


def test_vanished_evaluator_holds_nothing_up(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = begun(store, tmp_path)
        config = chained(tmp_path, arms=("people",))
        assert run(store, experiment, config).status.finished == 4
        ann, bob = sorted(People(store).accounts.all(), key=lambda a: a.name)
        # She takes one, and is not heard of again.
        assert People(store).drafting.claim(ann) is not None
        assert judge_by_reading(store, People(store), bob) == 1
        assert status_of(store, experiment).due == 1
        assert judge_by_reading(store, People(store, clock=Later(1)), bob) == 1
        assert status_of(store, experiment).due == 2
        run(store, experiment, config)
        # What she said of the first attempts stands, and bob's words went to the third.
        assert len(store.find(Slot)) == 6 and {len(f.evaluations) for f in fed(store).values()} == {1}
        assert check(store) == []


@pytest.mark.thorough(quick="experiments/test_chains_disturbed.py::test_vanished_evaluator_holds_nothing_up")
def test_late_feedback_is_stored_and_paid_and_not_passed_on(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = begun(store, tmp_path)
        config = chained(tmp_path, arms=("people",))
        run(store, experiment, config)
        before, hours = fed(store), [sum(link.hours or 0 for link in c.links) for c in chains_of(store, experiment)]
        for said in store.find(Evaluation):
            store.commit(said.replaced(id=f"late-{said.id[:8]}", minutes=30.0))
        assert not advance(store, experiment) and fed(store) == before
        after = [sum(link.hours or 0 for link in c.links) for c in chains_of(store, experiment)]
        assert after == pytest.approx([h + 0.5 for h in hours])
        # Of two that were there in time both are given, in one re-attempt.
        people = People(store)
        [ann, bob] = sorted(people.accounts.all(), key=lambda a: a.name)
        assert judge_by_reading(store, people, bob) == 2
        for said in [e for e in store.find(Evaluation) if e.evaluator.startswith(bob.evaluator.partition("@")[0])]:
            store.commit(said.replaced(id=f"too-{said.id[:8]}", evaluator=ann.evaluator))
        run(store, experiment, config)
        third = [f for id, f in fed(store).items() if id not in before]
        assert [len(f.evaluations) for f in third] == [2, 2] and len(store.find(Slot)) == 6


@pytest.mark.thorough(quick="experiments/test_chain_plans.py::test_other_rule_or_agent_is_another_experiment")
def test_changed_rubric_is_another_experiment(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = begun(store, tmp_path)
        config = chained(tmp_path, arms=("people",))
        criteria = tmp_path / "letter" / "criteria.toml"
        criteria.write_text(criteria.read_text().replace("important", "critical"))
        assert prepare(config, store.blobs).experiment.id != experiment.id
        run(store, experiment, config)
        assert {s.instance for s in store.find(Submission)} == set(experiment.lock.instances)
        assert len(store.find(Slot)) == 4


@pytest.mark.thorough(quick="experiments/test_chain_plans.py::test_other_rule_or_agent_is_another_experiment")
def test_changed_agent_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its attempts would stand in one chain and be two agents'."""
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = begun(store, tmp_path)
        config = chained(tmp_path, arms=("people",))

        async def other(task: object) -> None:
            """Another learner under the same name."""

        monkeypatch.setattr(learners, "learner", other)
        with pytest.raises(WorksampleError, match="learner"):
            run(store, experiment, config)
        assert fed(store) == {} and len(store.find(Trial, live=True)) == 2
        monkeypatch.undo()
        assert run(store, experiment, config).status.finished == 4


def test_feedback_on_a_withdrawn_submission_is_not_passed_on(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        config = chained(tmp_path, arms=("people",))
        experiment = planned(store, config)
        people, [ann] = hire(store, "ann")
        run(store, experiment, config)
        item = people.drafting.claim(ann)
        assert item is not None
        with store.database.reading() as connection:
            subject = connection.execute(select(items.c.subject).where(items.c.id == item.id)).scalar_one()
        [two] = [s for s in store.find(Submission) if s.id != subject]
        one = store.get(Submission, subject)
        amend(store, action="strike", target="submission", id=one.id, reason="not to be used", author="tester")
        # What she has at hand may be handed in and is kept, and nothing follows from it.
        payload = {"marks": {"named": "fail", "kind": "fail"}, "feedback": {"named": "name her", "kind": "thank her"}}
        people.judging.submit(item.id, ann, payload, item.id, 60)
        assert status_of(store, experiment).due == 0
        assert judge_by_reading(store, people, ann) == 1
        assert {e.subject for e in store.find(Evaluation)} == {one.id, two.id}
        assert status_of(store, experiment).due == 1
        run(store, experiment, config)
        assert [f.submission for f in fed(store).values()] == [two.id]
