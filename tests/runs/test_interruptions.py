"""Kills, Ctrl-C and full disks: everything committed survives, and nothing twice."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from forking.child import Child
from runs.material import Setting, setting
from worksample.errors import Cause, StoreFull
from worksample.fault_injection import POINTS
from worksample.records import CaptureStatus, Ending, Submission
from worksample.store import Store, check

pytestmark = [pytest.mark.box, pytest.mark.long]

HELLO = {"run": "echo hello > {output}/hello.txt"}
CLOSING = [p for p in POINTS if p.startswith("close.")]


def again(folder: Path, *, fault: str = "", lease: float = 1.0) -> Child:
    """A process that runs what is open."""
    env = {**os.environ, "WORKSAMPLE_FAULT": fault, "INSPECT_DISPLAY": "none"}
    return Child("runs.again", [folder / "store", lease], env)


async def over(process: Child) -> str:
    """Wait for its end; what it said of errors."""
    return (await asyncio.to_thread(process.communicate))[1]


def all_is_well(at: Setting) -> None:
    """Every slot has exactly one live finished trial with its evidence, and the store is sound."""
    store = Store.open(at.store.logs.parent)
    assert not check(store)
    assert not store.open_slots(at.experiment.id)
    finished = [t for t in at.trials() if t.outcome.finished]
    assert sorted(t.slot for t in finished) == sorted(s.id for s in at.slots)
    for trial in finished:
        assert at.output(trial) == {"hello.txt": b"hello\n"}
        assert store.get(Submission, trial.id).parts["output"].status is CaptureStatus.COMPLETE
    store.close()


@pytest.mark.quick("close.captured", "close.commit")
@pytest.mark.parametrize("point", CLOSING)
async def test_kill_between_any_two_steps_of_closing_loses_nothing(tmp_path: Path, point: str) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b"))
    killed = again(tmp_path, fault=f"{point}:kill:2")
    await over(killed)
    assert killed.returncode == -signal.SIGKILL
    kept = {t.id for t in at.trials()}
    assert len(kept) in ((2,) if point == "close.committed" else (0, 1))
    resumed = again(tmp_path)
    assert (await over(resumed), resumed.returncode)[1] == 0
    assert kept <= {t.id for t in at.trials()}
    all_is_well(at)


@pytest.mark.quick("close.begin", "close.commit")
@pytest.mark.parametrize("point", CLOSING)
async def test_platform_crash_is_recorded_once_and_retried(tmp_path: Path, point: str) -> None:
    at = setting(tmp_path, [HELLO])
    await over(again(tmp_path, fault=f"{point}:raise"))
    await over(again(tmp_path))
    crashes = [t for t in at.trials() if t.outcome.cause is Cause.PLATFORM_CRASH]
    assert len(crashes) == (0 if point == "close.committed" else 1)
    assert all(point in t.outcome.reason and "fault_injection.py" in t.outcome.reason for t in crashes)
    all_is_well(at)


async def test_full_disk_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b", "c"))
    full = again(tmp_path, fault="close.commit:full:2")
    said = await over(full)
    assert full.returncode == 1
    assert StoreFull.__name__ in said
    assert len(at.trials()) in (1, 2)
    await over(again(tmp_path))
    all_is_well(at)


async def test_box_lost_while_closing_is_retried(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO])
    await over(again(tmp_path, fault="close.captured:lost"))
    lost, done = sorted(at.trials(), key=lambda t: t.try_number)
    assert lost.outcome.cause is Cause.SANDBOX_LOST
    assert done.outcome.ending is Ending.DONE
    all_is_well(at)


async def test_box_that_dies_midway_is_retried(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO, {"run": "sleep 5"}, {"run": "true"}])
    run = asyncio.create_task(at.run(tries=2))
    while not (sleeping := asleep()) and not run.done():
        await asyncio.sleep(0.1)
    next(p for p in sleeping[0].parents() if p.name() == "bwrap").kill()
    trials = sorted(await run, key=lambda t: t.try_number)
    assert [t.outcome.cause for t in trials] == [Cause.SANDBOX_LOST, None]
    assert at.output(trials[0]) == {"hello.txt": b"hello\n"}
    all_is_well(at)


def asleep(of: int | None = None) -> list[psutil.Process]:
    """The processes named `sleep` below a process (this one)."""
    found = []
    for child in psutil.Process(of).children(recursive=True):
        try:
            if child.name() == "sleep":
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


async def until(at: Setting, pid: int) -> None:
    """Wait for a trial in the store, and for one that sleeps in its box."""
    end = time.monotonic() + 300
    while time.monotonic() < end and not (at.trials() and asleep(pid)):
        await asyncio.sleep(0.05)


SLEEPY = {"b": [HELLO, {"run": "sleep 600"}]}
"""An instance whose agent is still at work when the operator loses patience."""


async def test_one_interrupt_closes_running_trials_with_evidence(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b"), special=SLEEPY)
    process = again(tmp_path)
    await until(at, process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
    await over(process)
    assert process.returncode == 130
    trials = {t.outcome.ending: t for t in at.trials()}
    assert set(trials) == {Ending.DONE, Ending.CANCELLED}
    assert trials[Ending.CANCELLED].outcome.cause is Cause.CANCELLED
    assert all(at.output(t) == {"hello.txt": b"hello\n"} for t in trials.values())
    submission = at.store.get(Submission, trials[Ending.CANCELLED].id)
    assert submission.parts["output"].status is CaptureStatus.COMPLETE
    assert [s.id for s in at.store.open_slots(at.experiment.id)] == [trials[Ending.CANCELLED].slot]
    assert not check(at.store)


@pytest.mark.thorough(quick="runs/test_interruptions.py::test_one_interrupt_closes_running_trials_with_evidence")
async def test_two_interrupts_lose_nothing_committed(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b"), special=SLEEPY)
    process = again(tmp_path)
    await until(at, process.pid)
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)
    await over(process)
    assert process.returncode != 0
    done = [t for t in at.trials() if t.outcome.ending is Ending.DONE]
    assert [at.output(t) for t in done] == [{"hello.txt": b"hello\n"}]
    assert len(at.store.open_slots(at.experiment.id)) == 1
    assert not check(at.store)
