"""A person does a task through the app, from the plan to the leaderboard."""

from __future__ import annotations

import asyncio
from pathlib import Path

import polars as pl
import pytest

from app.workstations.working import POOR, REPORT, Workroom
from worksample.reports import leaderboard
from worksample.results.assignments.assignment import assignment_events
from worksample.results.assignments.human_slots import open_work_of
from worksample.results.slot_results import slots_df

# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_person_does_a_task_and_appears_beside_the_agent(tmp_path: Path) -> None:
    room = Workroom(tmp_path)
    waiting = room.run()
    assert waiting.status.places == 1 and waiting.status.complete and waiting.status.finished == 1
    [place] = open_work_of(room.store, room.experiment)
    room.hire("ann", rate=60)

    async def work() -> None:
        async with room.browser("ann") as ann:
            view = await ann.sit()
            assert view["state"] == "paused" and view["brief_html"] and view["inputs"] and view["pay"] == 60
            assert (await ann.send("POST", f"{ann.place}/keys", {"text": "x"})).status_code == 409
            assert (await ann.do("start"))["state"] == "running"
            room.clock.pass_(90)
            assert (await ann.do("heartbeat"))["seconds"] == 90
            assert "tickets.csv" in await ann.type("ls /task/input; echo don''e", "done\r")
            room.clock.pass_(30)
            assert (await ann.do("pause"))["state"] == "paused"
        room.clock.pass_(3 * 86400)
        # The server was stopped meanwhile; she comes back in another browser.
        await room.workstations.stop()
        room.start_server()
        async with room.browser("ann") as ann:
            await ann.sit()
            assert (await ann.do("start"))["seconds"] == 120
            nothing = await ann.send("POST", f"{ann.place}/submit", {})
            assert nothing.status_code == 409 and "the output folder is empty" in nothing.text
            for path in ("../scratch", "a/../../scratch", "%2E%2E/scratch"):
                assert (await ann.send("POST", f"{ann.place}/remove", {"path": path})).status_code == 400
                assert (await ann.send("GET", f"{ann.place}/output", path=path)).status_code == 400
            assert [f["path"] for f in (await ann.upload("report.md", REPORT.encode(), 700)).json()["files"]] == [
                "report.md"
            ]
            room.clock.pass_(60)
            done = await ann.do("submit", {})
            assert done["files"] == 1 and done["seconds"] == 180
            assert await ann.do("submit", {}) == done
            assert await ann.get("/places") == []
        await room.workstations.stop()

    asyncio.run(work())
    status = room.run().status
    assert status.complete and status.places == 0 and status.graded == 2
    rows = slots_df(room.store, room.experiment.id)
    human = rows.filter(pl.col("agent_name") == "human").row(0, named=True)
    poor = rows.filter(pl.col("agent_name") == "poor").row(0, named=True)
    assert human["passed"] and human["score"] == 1 and not poor["passed"]
    assert human["seconds"] == 180 and human["cost"] == pytest.approx(3.0) and human["priced"]
    acts = [event.act.value for event in assignment_events(room.store, place.slot.id)]
    assert acts == ["taken", "started", "worked", "paused", "started", "handed_in"]
    board = {row.name: row for row in leaderboard(room.store, [room.experiment.id]).rows}
    assert set(board) == {"human (by-hand)", "poor (plain)"}
    assert board["human (by-hand)"].cost.value == pytest.approx(3.0)
    assert POOR not in room.store.blobs.read(room.store.manifest(_output(room)).find("report.md").blob).decode()


def _output(room: Workroom) -> str:
    """The manifest of what the person handed in."""
    from worksample.records import Submission

    [mine] = [s for s in room.store.find(Submission, experiment=room.experiment.id) if s.author == "ann"]
    assert set(mine.parts) >= {"output", "trajectory", "terminal"}
    return mine.parts["output"].manifest
