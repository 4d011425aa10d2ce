"""Several processes on one store, and killed processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forking.child import Talking
from running.profiles import examples
from store.views import damage, everything, live
from store.worlds import World, planted
from worksample.records import Submission, Trial
from worksample.store import Store, rebuild

WORLD = World()
KILLS = 12
TESTS = Path(__file__).resolve().parents[1]


def start(store: Path, name: str, count: int) -> Talking:
    """A worker that waits for its first line of input."""
    return Talking("store.worker", [store, name, count])


def go(process: Talking) -> None:
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_processes_that_finish_equal_slots_leave_one_live_trial_each(tmp_path: Path) -> None:
    planted(Store.open(tmp_path / "s", create=True), WORLD).close()
    workers = [start(tmp_path / "s", name, 24) for name in ("a", "b")]
    for worker in workers:
        go(worker)
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert (worker.returncode, errors) == (0, "")
    with Store.open(tmp_path / "s") as store:
        assert len(store.find(Trial)) == 48
        assert live(store) == {slot.id: f"a{n}" for n, slot in enumerate(WORLD.slots)}
        assert damage(store, deep=True) == []


def test_several_processes_may_create_one_store_at_once(tmp_path: Path) -> None:
    workers = [start(tmp_path / "new", name, 0) for name in "abcd"]
    for worker in workers:
        go(worker)
    assert [(w.communicate(timeout=300)[1], w.returncode) for w in workers] == [("", 0)] * 4
    Store.open(tmp_path / "new").close()


@pytest.mark.long
def test_store_survives_kills_at_any_point(tmp_path: Path) -> None:
    """Whatever a killed process reported as committed is there, whole, and nothing is there by half."""
    planted(Store.open(tmp_path / "s", create=True), WORLD).close()
    chance, reported = random.Random(7), set[str]()
    for n in range(examples(KILLS)):
        worker = start(tmp_path / "s", f"w{n}-", 10_000)
        go(worker)
        reported.add(worker.stdout.readline().strip())
        time.sleep(chance.random() * 0.2)
        worker.send_signal(signal.SIGKILL)
        lines, _ = worker.communicate()
        # The last line may be cut.
        reported |= {line.strip() for line in lines.splitlines(keepends=True) if line.endswith("\n")}
        with Store.open(tmp_path / "s") as store:
            trials = {t.id for t in store.find(Trial)}
            assert reported <= trials
            assert {s.trial for s in store.find(Submission)} == trials
            assert damage(store, deep=True) == []
            live(store)
    with Store.open(tmp_path / "s") as store:
        before = everything(store)
        rebuild(store)
        assert everything(store) == before


FORKING = """
import os, sys
from store.worlds import World, planted
from worksample.records import Trial
from worksample.store import Store

WORLD = World()
store = planted(Store.open(sys.argv[1], create=True), WORLD)
store.commit(WORLD.trial(0, "parent"))
child = os.fork()
if child == 0:
    store.commit(WORLD.trial(1, "child"))
    os._exit(0 if len(store.find(Trial)) == 2 else 1)
assert os.waitpid(child, 0)[1] == 0
assert [t.id for t in store.find(Trial)] == ["child", "parent"]
store.close()
"""


def test_forked_child_opens_its_own_connections(tmp_path: Path) -> None:
    """In a process of its own: one with the threads of other tests cannot be forked safely."""
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    subprocess.run([sys.executable, "-c", FORKING, tmp_path / "s"], env=env, check=True, timeout=3000)
