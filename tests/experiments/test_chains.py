"""Chains from plan to verdict: people's feedback, retries without any, the same work graded again; by days."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from experiments.judged_by_people import config_of, hire
from experiments.learners import judge_by_reading, letter
from experiments.test_protocols import planned, run
from worksample.experiments.config import AgentConfig, ArmConfig, ChainConfig, ExperimentConfig
from worksample.records import Evaluation, Slot, Submission, Trial
from worksample.store import Store, check
from worksample.verdicts.slots import slots_df

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ARMS = ("people", "retry", "unchanged")
HERE = "experiments.learners"


def chained(folder: Path, *, arms: tuple[str, ...] = ARMS, reattempts: int = 2, **rest: object) -> ExperimentConfig:
    """Letters by an agent that learns; both criteria must be met."""
    config = config_of(folder, "rubric")
    criteria = folder / "letter" / "criteria.toml"
    criteria.write_text(criteria.read_text().replace("optional", "important"))
    return config.replaced(
        agents=(AgentConfig(harness="object", name="ann", settings={"object": f"{HERE}:learner"}),),
        arms=tuple(ArmConfig(name=name, feedback=name) for name in arms),
        chain=ChainConfig(reattempts=reattempts),
        **rest,
    )


def stands(store: Store, experiment: object) -> dict[tuple[str, int], list[bool | None]]:
    """(arm, attempt) -> whether each passed."""
    slots = slots_df(store, experiment.id).sort("instance")  # type: ignore[attr-defined]
    told = slots.group_by("arm", "attempt", maintain_order=True).agg("passed")
    return {(arm, attempt): passed for arm, attempt, passed in told.iter_rows()}


def test_arms_branch_from_one_failed_attempt_and_chains_go_on_as_people_judge(tmp_path: Path) -> None:
    config = chained(tmp_path)
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        assert [(a.name, a.continues) for a in experiment.arms] == [("first", None), *((a, "first") for a in ARMS)]
        assert (experiment.attempts, len(store.find(Slot))) == (3, 2)
        first = run(store, experiment, config).status
        assert (first.planned, first.finished, first.waits_for_people, first.due, first.complete) == (2, 2, 2, 0, True)

        people, [ann] = hire(store, "ann")
        assert judge_by_reading(store, people, ann) == 2
        from worksample.experiments.status import status_of

        status = status_of(store, experiment)
        assert (status.due, status.complete) == (6, False)
        second = run(store, experiment, config).status
        assert (second.planned, second.finished, second.reattempts, second.waits_for_people) == (8, 8, 6, 6)
        assert judge_by_reading(store, people, ann) == 6
        third = run(store, experiment, config).status
        assert (third.planned, third.finished, third.reattempts) == (14, 14, 12)
        assert judge_by_reading(store, people, ann) == 6
        last = run(store, experiment, config).status
        assert (last.planned, last.graded, last.due, last.complete) == (14, 14, 0, True)

        assert stands(store, experiment) == {
            ("first", 1): [False, False],
            ("people", 2): [False, False],
            ("people", 3): [True, True],
            ("retry", 2): [False, False],
            ("retry", 3): [False, False],
            ("unchanged", 2): [False, False],
            ("unchanged", 3): [False, False],
        }
        _what_was_given(store)
        assert [str(fault) for fault in check(store, deep=True)] == []


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
        assert ("What was said" in text) == (slot.arm == "people")
        assert "/task/previous" in text and trial.shown is not None


def test_of_a_chain_what_is_not_needed_is_neither_run_nor_counted(tmp_path: Path) -> None:
    config = chained(tmp_path, arms=("people",), reattempts=100)
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        people, [ann] = hire(store, "ann")
        for _ in range(5):
            status = run(store, experiment, config).status
            judge_by_reading(store, people, ann)
        assert (status.planned, status.finished, status.graded, status.complete) == (6, 6, 6, True)
        assert slots_df(store, experiment.id)["attempt"].max() == 3
        assert slots_df(store, experiment.id).filter(pl.col("attempt") == 3)["passed"].all()
