"""A run that was stopped while another took over its work: a paused machine, a blocked event loop."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select

from cli.run_cli import cli, start
from experiments.test_killed_runs import words_of
from worksample.errors import Cause
from worksample.fault_injection import POINTS
from worksample.records import Evaluation, EvaluationOutcome, Slot, Submission, Trial
from worksample.store import Store, check
from worksample.store.schema import leases

pytestmark = [pytest.mark.box, pytest.mark.long(seconds=30)]


def stands_still(pid: int) -> bool:
    """Whether a process was stopped; fails where it ended instead."""
    state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    assert state not in "ZX", "it ended before it stood still"
    return state == "T"


def expire_all(where: Path) -> int:
    """End all leases, as time would; returns how many there were."""
    with Store.open(where) as store:
        with store.database.reading() as connection:
            held = connection.execute(select(leases.c.key, leases.c.owner).where(leases.c.owner != "")).all()
        for key, owner in held:
            store.expire(key, owner)
    return len(held)


def assert_once(where: Path) -> list[Trial]:
    """Every slot has one finished trial, which is live, and one given evaluation. Returns the superseded trials."""
    with Store.open(where) as store:
        assert [str(fault) for fault in check(store, deep=True)] == []
        slots = Counter(s.id for s in store.find(Slot))
        trials = store.find(Trial)
        assert Counter(t.slot for t in trials if t.outcome.finished) == slots
        assert Counter(t.slot for t in store.find(Trial, live=True)) == slots
        given = Counter(e.subject for e in store.find(Evaluation) if e.outcome is EvaluationOutcome.GIVEN)
        assert given == Counter(t.id for t in store.find(Trial, live=True))
        assert {t.id for t in trials} == {s.trial for s in store.find(Submission)}
        return [t for t in trials if t.outcome.cause is Cause.SUPERSEDED]


@pytest.mark.quick("grade.commit")
@pytest.mark.parametrize("point", POINTS)
def test_stopped_run_leaves_its_slot_to_the_one_that_took_over(tmp_path: Path, point: str) -> None:
    store = tmp_path / "store"
    words = words_of(store, "study", "--only", "greeting")
    late = start(*words, env={"WORKSAMPLE_FAULT": f"{point}:stop"})
    while not stands_still(late.pid):
        time.sleep(0.02)
    assert expire_all(store)
    other = cli(*words)
    assert other.returncode == 0, other.stderr
    late.send_signal(signal.SIGCONT)
    assert late.wait() == 0, late.communicate()
    superseded = assert_once(store)
    begun = point.startswith("close.") and point != "close.committed"
    assert bool(superseded) == begun
