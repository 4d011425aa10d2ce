"""A person and an agent in turns: both are logged and paid for, and the work counts once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import polars as pl
import pytest

from app.workstations.working import POOR, REPORT, Workroom
from worksample.errors import Cause
from worksample.experiments.config import ArmConfig
from worksample.records import Submission, Trial
from worksample.results.slot_results import slots_df
from worksample.store.integrity_check import check

# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.mark.thorough(
    quick="app/workstations/test_person_alone.py::test_person_does_a_task_and_appears_beside_the_agent"
)
def test_agent_and_person_work_in_turns(tmp_path: Path) -> None:
    room = Workroom(tmp_path, arms=(ArmConfig(name="together", worker="assisted"),))
    room.hire("ann", rate=60)
    assert room.run().status.places == 1
    asyncio.run(_ask(room))
    assert room.run().status.places == 1
    turns = [t for t in room.store.find(Trial) if t.outcome.cause is Cause.PERSON_CONTINUES]
    assert len(turns) == 2 and turns[1].fed is not None and turns[1].fed.text is not None
    told = room.store.blobs.read(turns[1].fed.text).decode()
    assert "Write the whole report." in told and "/task/previous" in told
    asyncio.run(_finish(room))
    status = room.run().status
    assert status.complete and status.graded == 1 and status.places == 0
    row = slots_df(room.store, room.experiment.id).row(0, named=True)
    assert row["agent_name"] == "poor" and row["arm"] == "together" and row["passed"]
    [done] = room.store.find(Trial, live=True)
    assert done.person_seconds == 100 and done.working_seconds > 100
    assert done.usage["person"].cost == pytest.approx(100 / 60)
    assert done.usage["agent"].tokens == sum(t.usage["agent"].tokens for t in turns) > 0
    assert row["cost"] == pytest.approx(100 / 60) and row["tokens"] == done.usage["agent"].tokens
    assert status.cost == pytest.approx(100 / 60)
    [mine] = room.store.find(Submission, trial=done.id)
    written = room.store.manifest(mine.parts["trajectory"].manifest).find("trajectory.json")
    document = json.loads(room.store.blobs.read(written.blob))
    assert document["extra"]["turns"] == [t.id for t in turns]
    assert any("Write the whole report." in step["message"] for step in document["steps"])
    assert check(room.store, deep=True) == []
    assert pl.Series([row["seconds"]]).is_between(100, 1000).all()


async def _ask(room: Workroom) -> None:
    async with room.browser("ann") as ann:
        view = await ann.sit()
        assert view["worker"] == "assisted" and len(view["turns"]) == 1
        await ann.do("start")
        files = (await ann.get(f"{ann.place}/files"))["files"]
        assert [f["path"] for f in files] == ["report.md"]
        assert (await ann.client.get(f"/api/v1{ann.place}/output?path=report.md")).text == POOR
        await ann.upload("notes.txt", b"what I know")
        room.clock.pass_(40)
        assert (await ann.do("ask", {"words": "Write the whole report."}))["state"] == "agent"
        refused = await ann.send("POST", f"{ann.place}/start")
        assert refused.status_code == 409 and "agent's turn" in refused.text


async def _finish(room: Workroom) -> None:
    async with room.browser("ann") as ann:
        await ann.sit()
        await ann.do("start")
        files = (await ann.get(f"{ann.place}/files"))["files"]
        assert [f["path"] for f in files] == ["notes.txt", "report.md"]
        await ann.upload("report.md", REPORT.encode())
        await ann.do("remove", {"path": "notes.txt"})
        room.clock.pass_(60)
        assert (await ann.do("submit", {}))["files"] == 1
    await room.workstations.stop()
