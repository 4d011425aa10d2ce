"""A slot taken over by another process while the agent works: the work stops, and nobody is charged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runs.material import setting
from worksample.errors import Cause
from worksample.records import Trial

pytestmark = pytest.mark.box
FOREVER = {"sleep": 600}


async def test_agent_whose_slot_was_taken_over_is_stopped(tmp_path: Path) -> None:
    at = setting(tmp_path, [FOREVER])
    (slot,) = at.slots
    key = f"slot:{slot.id}"
    running = asyncio.create_task(at.run(lease=0.3))
    while (holder := await asyncio.to_thread(at.store.holder, key)) is None:
        await asyncio.sleep(0.01)
    at.store.expire(key, holder)
    lease = at.store.take(key, "another run", 600)
    assert lease is not None
    async with asyncio.timeout(120):
        (stopped,) = await running
    assert stopped.outcome.cause is Cause.SUPERSEDED
    assert not stopped.outcome.finished
    assert not stopped.outcome.retried
    assert at.closed[0][0] == stopped
    with at.store.fence(lease):
        at.store.commit(
            stopped.replaced(id="theirs", outcome={"ending": "done"}, generation=lease.generation, try_number=2)
        )
    assert [t.id for t in at.store.find(Trial, live=True)] == ["theirs"]


async def test_agent_whose_expired_lease_was_not_taken_continues(tmp_path: Path) -> None:
    at = setting(tmp_path, [{"sleep": 1.5}, {"run": "echo hello > {output}/hello.txt"}])
    (slot,) = at.slots
    key = f"slot:{slot.id}"
    running = asyncio.create_task(at.run(lease=0.3))
    while (holder := await asyncio.to_thread(at.store.holder, key)) is None:
        await asyncio.sleep(0.01)
    at.store.expire(key, holder)
    async with asyncio.timeout(120):
        (trial,) = await running
    assert trial.outcome.finished
    assert trial.generation == 1
