"""Chains from plan to verdict over days: people's feedback, retries without feedback, repeated grading."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.judged_by_people import config_of, hire
from experiments.learners import judge_by_reading, letter
from experiments.test_any_protocol import planned, run
from worksample.experiments.config import AgentConfig, ArmConfig, ChainConfig, ExperimentConfig, PeopleConfig
from worksample.experiments.reattempt_slots import WITHDRAWN, advance, may_run
from worksample.experiments.status import Status, status_of
from worksample.experiments.strike_and_restore import amend
from worksample.records import Amendment, Evaluation, Experiment, Slot, Submission, Trial
from worksample.reports import leaderboard
from worksample.reports.sections import measure
from worksample.results.slot_results import slots_df
from worksample.store import Store, check

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ARMS = ("people", "retry", "unchanged")
HERE = "experiments.learners"


def chained(
    folder: Path, *, arms: tuple[str, ...] = ARMS, reattempts: int = 2, hours: float | None = None, **rest: object
) -> ExperimentConfig:
    """Letters by an agent that learns; both criteria must be met."""
    config = config_of(folder, "rubric")
    criteria = folder / "letter" / "criteria.toml"
    criteria.write_text(criteria.read_text().replace("optional", "important"))
    return config.replaced(
        agents=(AgentConfig(harness="object", name="ann", settings={"object": f"{HERE}:learner"}),),
        arms=tuple(ArmConfig(name=name, feedback=name) for name in arms),
        chain=ChainConfig(reattempts=reattempts, hours=hours),
        **rest,
    )


def stands(store: Store, experiment: object) -> dict[tuple[str, int], list[bool | None]]:
    """(arm, attempt) -> whether each passed."""
    slots = slots_df(store, experiment.id).sort("instance")  # type: ignore[attr-defined]
    told = slots.group_by("arm", "attempt", maintain_order=True).agg("passed")
    return {(arm, attempt): passed for arm, attempt, passed in told.iter_rows()}


@dataclass
class Study:
    """One experiment, run once for all tests that only read it; `stages` are copies of the store by day."""

    store: Store
    experiment: Experiment
    statuses: list[Status]
    stages: list[Path]

    def at(self, day: int, where: Path) -> Store:
        """The store as it stood when the experts had judged what they had by that day, to be changed."""
        shutil.copytree(self.stages[day], where)
        return Store.open(where)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("study")
    config = chained(folder)
    with Store.open(folder / "store", create=True) as store:
        experiment = planned(store, config)
        assert len(store.find(Slot)) == 2
        # Unchanged work is judged by somebody new each time.
        people, experts = hire(store, "ann", "bob", "cem")
        statuses, stages = [], []
        for day in range(3):
            statuses.append(run(store, experiment, config).status)
            for expert in experts:
                judge_by_reading(store, people, expert)
            statuses.append(status_of(store, experiment))
            stages.append(folder / f"day-{day}")
            store.close()
            shutil.copytree(folder / "store", stages[-1])
            store = Store.open(folder / "store")
            people = type(people)(store)
        statuses.append(run(store, experiment, config).status)
        yield Study(store, experiment, statuses, stages)
        store.close()


def test_chains_continue_as_people_judge_until_nothing_is_due(study: Study) -> None:
    told = [(s.planned, s.finished, s.reattempts, s.waits_for_people, s.due, s.complete) for s in study.statuses]
    assert told == [
        (2, 2, 0, 2, 0, True),
        (2, 2, 0, 0, 6, False),
        (8, 8, 6, 6, 0, True),
        (8, 8, 6, 0, 6, False),
        (14, 14, 12, 6, 0, True),
        (14, 14, 12, 0, 0, True),
        (14, 14, 12, 0, 0, True),
    ]
    assert study.statuses[-1].graded == 14


def test_arms_branch_from_one_failed_attempt(study: Study) -> None:
    assert [(a.name, a.continues) for a in study.experiment.arms] == [
        ("first", None), ("people", "first"), ("retry", "first"), ("unchanged", "first")
    ]  # fmt: skip
    assert study.experiment.attempts == 3
    assert stands(study.store, study.experiment) == {
        ("first", 1): [False, False],
        ("people", 2): [False, False],
        ("people", 3): [True, True],
        ("retry", 2): [False, False],
        ("retry", 3): [False, False],
        ("unchanged", 2): [False, False],
        ("unchanged", 3): [False, False],
    }
    _what_was_given(study.store)
    assert [str(fault) for fault in check(study.store, deep=True)] == []


def test_boards_and_figures_separate_arms_and_attempts(study: Study) -> None:
    names = [row.name for row in leaderboard(study.store, [study.experiment.id]).rows]
    assert len(names) == len(set(names)) == 7
    assert {"ann (first, attempt 1)", "ann (people, attempt 3)", "ann (unchanged, attempt 2)"} <= set(names)

    sections = {s.id: s for s in measure(study.store, [study.experiment.id])}
    assert [s.fault for s in sections.values() if s.fault] == []

    def cell(section: str, label: str, column: str) -> object:
        found = sections[section]
        row = next(r for r in found.rows if r.label == label)
        value = row.cells[found.columns.index(column)]
        return value if isinstance(value, str) else value.value

    for label, rescued in (("ann (people)", 1.0), ("ann (retry)", 0.0), ("ann (unchanged)", 0.0)):
        assert cell("feedback", label, "rescue rate") == rescued
        assert cell("lifts", label, "p1") == 0.0
        assert cell("lifts", label, "p overall") == rescued
        assert cell("within-k", label, "within 3") == rescued
        assert cell("attempt-change", label, "change by attempt 2") == 0.0
        assert cell("attempt-change", label, "change by attempt 3") == rescued
        assert cell("feedback-cost", label, "attempts") == 3
        assert cell("feedback-cost", label, "minutes of people") is not None
    assert cell("feedback-cost", "ann (people)", "project value") is None
    assert "2 jobs without a price" in " ".join(sections["feedback-cost"].notes)
    assert cell("feedback", "ann (people)", "less retry") == 1.0
    assert cell("feedback", "ann (people)", "less unchanged") == 1.0
    assert cell("feedback", "ann (retry)", "less retry") == "-"
    by = {row.cells[:2]: row.cells[2] for row in sections["feedback-by"].rows}
    # Two re-attempts each: the second one passes with people's words, and nothing else helps.
    passed = {given: rate.exact for (what, given), rate in by.items() if what == "kind"}  # type: ignore[union-attr]
    assert passed == {"people": 0.5, "retry": 0, "unchanged": 0}
    assert {what for what, _ in by} == {"kind", "length", "domain", "hours of paid work"}


def test_struck_first_attempt_withdraws_its_chains(study: Study, tmp_path: Path) -> None:
    with study.at(1, tmp_path / "store") as store:
        first = next(t for t in store.find(Trial) if t.fed is None)
        fed = {t.id for t in store.find(Trial) if t.fed and t.fed.submission == first.id}
        assert len(fed) == 3
        amend(store, action="strike", target="trial", id=first.id, reason="the box had a fault", author="tester")
        moved = advance(store, study.experiment)
        assert len(moved.withdrawn) == 3 and {c.instance for c in moved.committed} != {first.instance}
        struck = {a.target_id for a in store.find(Amendment) if a.reason == WITHDRAWN}
        assert struck == fed
        assert not advance(store, study.experiment).withdrawn
        assert first.slot in (may_run(store, study.experiment) or ())
        assert not any(store.get(Slot, s).instance == first.instance and store.get(Slot, s).after
                       for s in may_run(store, study.experiment) or ())  # fmt: skip


def test_withdrawn_submissions_and_struck_people_give_no_feedback(study: Study, tmp_path: Path) -> None:
    with study.at(0, tmp_path / "store") as store:
        assert status_of(store, study.experiment).due == 6
        [one, two] = store.find(Submission)
        amend(store, action="strike", target="submission", id=one.id, reason="not to be used", author="tester")
        assert status_of(store, study.experiment).due == 3
        [said] = store.find(Evaluation, subject=two.id)
        amend(store, action="strike", target="evaluator", id=said.evaluator, reason="vanished", author="tester")
        assert status_of(store, study.experiment).due == 0
        assert not advance(store, study.experiment)
        amend(store, action="restore", target="evaluator", id=said.evaluator, reason="came back", author="tester")
        assert {slot.instance for slot in advance(store, study.experiment).committed} == {two.instance}


def test_planned_attempt_on_withdrawn_work_waits(study: Study, tmp_path: Path) -> None:
    with study.at(0, tmp_path / "store") as store:
        [one, two] = store.find(Submission)
        assert len(advance(store, study.experiment).committed) == 6
        amend(store, action="strike", target="submission", id=one.id, reason="not to be used", author="tester")
        mine = [store.get(Slot, id) for id in may_run(store, study.experiment) or ()]
        assert {slot.instance for slot in mine} == {two.instance} and len(mine) == 2


def _what_was_given(store: Store) -> None:
    """Every re-attempt names the work before it and what was given of it, and the words are kept."""
    slots = {s.id: s for s in store.find(Slot)}
    for trial in store.find(Trial):
        slot = slots[trial.slot]
        assert (trial.fed is None) == (slot.after is None)
        if trial.fed is None:
            continue
        [before] = store.find(Trial, slot=slot.after)
        [earlier] = store.find(Submission, trial=before.id)
        assert trial.fed.submission == earlier.id
        given = [e.id for e in store.find(Evaluation, subject=earlier.id)]
        assert trial.fed.evaluations == (tuple(given) if slot.arm == "people" else ())
        [mine] = store.find(Submission, trial=trial.id)
        same = letter(store, mine.parts["output"].manifest) == letter(store, earlier.parts["output"].manifest)
        assert same == (slot.arm != "people")
        if slot.arm == "unchanged":
            assert (trial.fed.text, mine.content, trial.steps) == (None, earlier.content, 0)
            continue
        text = store.blobs.read(trial.fed.text or "").decode()
        assert ("Feedback on it" in text) == (slot.arm == "people")
        assert "/task/previous" in text and trial.shown is not None


@pytest.mark.thorough(quick="experiments/test_chains.py::test_chains_continue_as_people_judge_until_nothing_is_due")
def test_unneeded_attempts_of_a_hundred_are_neither_run_nor_counted(tmp_path: Path) -> None:
    config = chained(tmp_path, arms=("people",), reattempts=100, people=PeopleConfig(overlap=2))
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        people, accounts = hire(store, "ann", "bob")
        for _ in range(4):
            status = run(store, experiment, config).status
            for account in accounts:
                judge_by_reading(store, people, account)
        assert (status.planned, status.finished, status.graded, status.complete) == (6, 6, 6, True)
        assert slots_df(store, experiment.id)["attempt"].max() == 3
        # Two judged each attempt: both were given, in one re-attempt.
        assert {len(t.fed.evaluations) for t in store.find(Trial) if t.fed} == {2}
