"""A run killed again and again ends with exactly the planned trials and grades."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, cli, start
from running.profiles import is_quick_run
from worksample.fault_injection import KINDS, POINTS
from worksample.records import Evaluation, EvaluationOutcome, Experiment, Slot, Submission, Trial
from worksample.store import Store, check

pytestmark = [pytest.mark.box, pytest.mark.long(seconds=60)]

KILLS = 20
ELSEWHERE = {"close.captured", "close.commit", "grade.commit", "grade.committed"}
"""Failpoints that test_interruptions, test_graders_in_boxes and test_judge_evaluators cover in the quick profile."""
SEED = 7
REPEATS = 3


def words_of(store: Path, name: str, *more: object) -> list[object]:
    agent = ["--agent", "scripted", "--script", SCRIPTS / "good"]
    return ["run", "--suite", TINY, *agent, "--store", store, "--name", name, "--parallel", 3, "--json", *more]


def assert_exactly_what_was_planned(where: Path) -> None:
    """One finished trial per slot, one submission per trial, one given evaluation per submission, nothing torn."""
    with Store.open(where) as store:
        assert [str(fault) for fault in check(store, deep=True)] == []
        for experiment in store.find(Experiment):
            slots = {s.id for s in store.find(Slot, experiment=experiment.id)}
            trials = store.find(Trial, experiment=experiment.id)
            finished = Counter(t.slot for t in trials if t.outcome.finished)
            assert finished == Counter(slots), experiment.id
            submissions = store.find(Submission, experiment=experiment.id)
            by_trial = Counter(s.trial for s in submissions)
            done = {t.id for t in trials if t.outcome.finished}
            assert {t: n for t, n in by_trial.items() if t in done} == dict.fromkeys(done, 1)
            given = Counter(
                e.subject
                for s in submissions
                if s.trial in done
                for e in store.find(Evaluation, subject=s.id)
                if e.outcome is EvaluationOutcome.GIVEN
            )
            assert given == Counter(s.id for s in submissions if s.trial in done)


@pytest.mark.thorough(quick="experiments/test_killed_runs.py::test_fault_between_any_two_steps_is_recovered[kill]")
def test_random_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    chance = random.Random(SEED)
    kills = experiments = 0
    cli("--version")  # what is timed is a run, and not what all processes are forked from
    began = time.monotonic()
    assert cli(*words_of(store, "whole", "--repeats", REPEATS)).returncode == 0
    whole = time.monotonic() - began
    while kills < KILLS:
        experiments += 1
        words = words_of(store, f"killed-{experiments}", "--repeats", REPEATS)
        while kills < KILLS:
            running = start(*words)
            time.sleep(chance.uniform(0.02, 0.5) * whole)
            with suppress(ProcessLookupError):  # it was over before
                running.send_signal(signal.SIGKILL)
            if running.wait() != -signal.SIGKILL:
                break
            kills += 1
        assert cli(*words).returncode == 0
    assert_exactly_what_was_planned(store)


@pytest.mark.quick("kill")
@pytest.mark.parametrize("kind", KINDS)
def test_fault_between_any_two_steps_is_recovered(tmp_path: Path, kind: str) -> None:
    store = tmp_path / "store"
    for point in (p for p in POINTS if not is_quick_run() or p not in ELSEWHERE):
        words = words_of(store, point.replace(".", "-"), "--only", "greeting")
        faulty = cli(*words, env={"WORKSAMPLE_FAULT": f"{point}:{kind}:2"})
        if kind == "kill":
            assert faulty.returncode == -signal.SIGKILL, point
        again = cli(*words)
        assert again.returncode == 0, f"{point}\n{again.stderr[-3000:]}"
    assert_exactly_what_was_planned(store)
