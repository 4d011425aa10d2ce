"""An admin sees who has which task, and takes one back before its time is over."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.workstations.working import REPORT, Workroom
from worksample.records import AssignmentAct, Trial
from worksample.results.assignments.assignment import assignment_events, assignment_of

# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_taken_back_task_starts_again_for_the_next_person(tmp_path: Path) -> None:
    room = Workroom(tmp_path)
    for name in ("ann", "bob"):
        room.hire(name, rate=60)
    room.people.accounts.create("ada", ("admin",))

    async def work() -> None:
        async with room.browser("ann") as ann, room.browser("bob") as bob, room.browser("ada") as ada:
            await ann.sit()
            await ann.do("start")
            await ann.upload("half.txt", b"half")
            room.clock.pass_(70)
            [waits] = await ada.get("/waiting")
            [seat] = waits["seats"]
            assert (seat["name"], seat["state"], seat["seconds"], waits["places"]) == ("ann", "running", 70, 1)
            back = f"{ann.place}/take-back"
            for other in (ann, bob):
                assert (await other.send("POST", back, {"reason": "mine"})).status_code == 403
            assert (await ada.send("POST", back, {"reason": ""})).status_code == 400
            assert (await ada.send("POST", back, {"reason": "she is ill"})).status_code == 204
            slot = ann.place.rpartition("/")[2]
            assert slot not in room.workstations._open
            # She reads why, whatever she does next; twice is refused.
            for act in ("heartbeat", "start", "pause", "submit"):
                told = await ann.send("POST", f"{ann.place}/{act}", {} if act == "submit" else None)
                assert told.status_code == 409 and "took this work back: she is ill" in told.text, act
            assert (await ada.send("POST", back, {"reason": "again"})).status_code == 409
            assert (await ada.get("/waiting"))[0]["seats"] == []
            last = assignment_events(room.store, slot)[-1]
            assert (last.act, last.by, last.note) == (AssignmentAct.TAKEN_BACK, "ada", "she is ill")
            assert last.output is not None or assignment_of(room.store, slot).output is not None
            assert (await bob.sit())["seconds"] == 0
            await bob.do("start")
            assert (await bob.get(f"{bob.place}/files"))["files"] == []
            await bob.upload("report.md", REPORT.encode())
            room.clock.pass_(30)
            await bob.do("submit", {})
            assert (await ada.send("POST", back, {"reason": "late"})).status_code == 409
        await room.workstations.stop()

    asyncio.run(work())
    [done] = [t for t in room.store.find(Trial) if t.person_seconds is not None]
    assert done.person_seconds == 30


def test_same_person_continues_with_their_own_files(tmp_path: Path) -> None:
    room = Workroom(tmp_path)
    room.hire("ann", rate=60)
    room.people.accounts.create("ada", ("admin",))

    async def work() -> None:
        async with room.browser("ann") as ann, room.browser("ada") as ada:
            await ann.sit()
            await ann.do("start")
            await ann.upload("half.txt", b"half")
            room.clock.pass_(50)
            await ann.do("pause")
            await ada.post(f"{ann.place}/take-back", {"reason": "by mistake"})
            assert (await ann.sit())["seconds"] == 50
            await ann.do("start")
            assert [f["path"] for f in (await ann.get(f"{ann.place}/files"))["files"]] == ["half.txt"]
        await room.workstations.stop()

    asyncio.run(work())


def test_box_is_never_passed_to_another_person(tmp_path: Path) -> None:
    """A place whose lease ran out while its box stands open."""
    room = Workroom(tmp_path)
    for name in ("ann", "bob"):
        room.hire(name)

    async def work() -> None:
        async with room.browser("ann") as ann:
            await ann.sit()
            await ann.do("start")
            await ann.upload("secret.txt", b"mine")
            await ann.do("pause")
        room.clock.pass_(15 * 86400)
        async with room.browser("bob") as bob:
            await bob.sit()
            await bob.do("start")
            assert (await bob.get(f"{bob.place}/files"))["files"] == []
        await room.workstations.stop()

    asyncio.run(work())
