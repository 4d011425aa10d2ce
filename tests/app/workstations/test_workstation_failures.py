"""People who leave, return, collide or attack; servers that are killed."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.workstations.working import REPORT, Browser, Workroom
from worksample.app.workstations.uploads import place_below, sound_path
from worksample.errors import UsageError
from worksample.records import AssignmentAct, AssignmentEvent, Submission, Trial
from worksample.results.assignments.assignment import GAP, assignment_after, assignment_events, assignment_of
from worksample.store.integrity_check import check
from worksample.store.merge_and_rebuild import rebuild

QUICK = "app/workstations/test_person_alone.py::test_person_does_a_task_and_appears_beside_the_agent"
# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
HOSTILE = [
    "../up.txt",
    "/etc/passwd",
    "a/../../b",
    "",
    ".",
    "a//b",
    "nul\0",
    "x" * 256,
    "a\nb",
    "\x1b[31m",
    "..",
    "a/./b",
]
FINE = ["résumé.pdf", "a b'c\"d.txt", "-rf", "$(touch owned)", "deep/er/and/deeper.txt", "<img src=x>.txt", "%2e%2e"]


@pytest.mark.parametrize("path", HOSTILE)
def test_paths_cannot_leave_the_output(path: str) -> None:
    with pytest.raises(UsageError):
        sound_path(path)


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "..", "a/../../b", "/etc/passwd", "", ".", "%2E%2E/up", "a/%2E./b", "%00"]
)
def test_files_outside_the_output_are_neither_read_nor_removed(path: str) -> None:
    with pytest.raises(UsageError):
        place_below("/task/output", path)


def test_listed_file_is_found_by_its_quoted_path() -> None:
    assert place_below("/task/output", "deep/a%0Ab") == "/task/output/deep/a\nb"


@given(st.text(max_size=60))
def test_upload_stays_below_the_output(path: str) -> None:
    try:
        steps = sound_path(path).split("/")
    except UsageError:
        return
    assert (not {"", ".", ".."} & set(steps) and path.isprintable()) or all(ord(c) >= 32 for c in path)


@given(st.lists(st.tuples(
    st.sampled_from(list(AssignmentAct)), st.sampled_from(["person-a@1", "person-a@2", "person-b@1"]),
                          st.floats(0, 1000)), max_size=30))  # fmt: skip
def test_working_time_follows_from_the_events(said: list[tuple[AssignmentAct, str, float]]) -> None:
    """Whatever happens, nobody is charged for more than has passed, nor for a gap, and order of reading counts not."""
    from datetime import UTC, datetime, timedelta

    at, events, running, mine = datetime(2026, 1, 1, tzinfo=UTC), [], False, 0.0
    person = ""
    for number, (act, who, pause) in enumerate(said, 1):
        at += timedelta(seconds=pause)
        if who.partition("@")[0] != person.partition("@")[0]:
            running, mine = False, 0.0
        person = who
        mine += min(pause, GAP) if running else 0
        running = act in (AssignmentAct.STARTED, AssignmentAct.WORKED)
        events.append(AssignmentEvent(id=f"s.{number}", slot="s", number=number, person=who, act=act, at=at))
    seat = assignment_after("s", reversed(events))
    assert seat.seconds == pytest.approx(mine, abs=1e-3) and seat.running == running
    assert seat.number == len(events) and seat.seconds_at(at + timedelta(days=1)) <= seat.seconds + GAP


@pytest.mark.box
@pytest.mark.thorough(quick=QUICK)
def test_two_people_on_one_slot_and_a_killed_server(tmp_path: Path) -> None:
    room = Workroom(tmp_path)
    room.run()
    for name in ("ann", "bob"):
        room.hire(name, rate=None)

    async def work() -> None:
        async with room.browser("ann") as ann, room.browser("bob") as bob:
            await ann.sit()
            assert await bob.get("/places") == []
            bob.place = ann.place
            for act, body in (("take", None), ("start", None), ("keys", {"text": "x"}), ("submit", {}), ("leave", {})):
                assert (await bob.send("POST", f"{ann.place}/{act}", body)).status_code == 409, act
            assert (await bob.send("GET", f"{ann.place}")).status_code == 409
            assert (await bob.send("GET", f"{ann.place}/input", path="tickets.csv")).status_code == 409
            await ann.do("start")
            for path in HOSTILE:
                refused = await ann.upload(path, b"x")
                assert refused.status_code == 400, path
            for path in FINE:
                assert (await ann.upload(path, path.encode())).status_code == 200, path
            torn = {"path": "torn", "offset": 5, "data": base64.b64encode(b"x").decode(), "last": True}
            assert (await ann.send("POST", f"{ann.place}/files", torn)).status_code == 400
            # A link of the box leads only to where the box itself may read.
            await ann.type("ln -s /etc/shadow leak; ln -s / root; echo lin''ked", "linked\r")
            leak = await ann.send("GET", f"{ann.place}/output", path="leak")
            assert leak.status_code == 400 or b"root:" not in leak.content
            up = {"path": "root/task/input/evil.txt", "offset": 0, "data": "eA==", "last": True}
            assert (await ann.send("POST", f"{ann.place}/files", up)).status_code == 400
            room.clock.pass_(70)
            await ann.do("heartbeat")
        # The server is killed: nothing of it says good-bye. The time stops where it was last heard of, and a gap.
        for desk in room.workstations._open.values():
            await desk.box.close()
        room.start_server()
        room.clock.pass_(86400)
        async with room.browser("ann") as ann:
            await ann.sit()
            assert (await ann.do("pause"))["seconds"] == 70 + GAP
            slot = ann.place.rpartition("/")[2]
            room.store.release(f"workstation:{slot}", room.store.holder(f"workstation:{slot}") or "")
            await ann.do("start")
            found = {f["path"] for f in (await ann.get(f"{ann.place}/files"))["files"] if f["kind"] != "folder"}
            assert found == {*(p.replace("%", "%25") for p in FINE), "leak", "root"}
            await ann.do("leave", {"reason": "too hard"})
        async with room.browser("bob") as bob:
            assert (await bob.sit())["seconds"] == 0
            await bob.do("start")
            assert (await bob.get(f"{bob.place}/files"))["files"] == []
            await bob.upload("report.md", REPORT.encode())
            room.clock.pass_(30)
            both = await asyncio.gather(*(bob.send("POST", f"{bob.place}/submit", {}) for _ in range(3)))
            assert {a.status_code for a in both} <= {200, 409} and 200 in {a.status_code for a in both}
        await room.workstations.stop()

    asyncio.run(work())
    assert room.run().status.complete
    [done] = [t for t in room.store.find(Trial) if t.person_seconds is not None]
    assert done.person_seconds == 30 and done.usage["person"].cost == pytest.approx(30 * 40 / 3600)
    assert len([s for s in room.store.find(Submission) if s.author == "bob"]) == 1
    before = assignment_of(room.store, done.slot), assignment_events(room.store, done.slot)
    assert check(room.store, deep=True) == [] and rebuild(room.store) > 0
    assert (assignment_of(room.store, done.slot), assignment_events(room.store, done.slot)) == before


@pytest.mark.box
@pytest.mark.thorough(quick=QUICK)
def test_silent_person_is_paused_and_the_box_closed(tmp_path: Path) -> None:
    room = Workroom(tmp_path)
    room.hire("ann")

    async def work() -> None:
        async with room.browser("ann") as ann:
            await ann.sit()
            await ann.do("start")
            await ann.upload("half.txt", b"half")
            slot = ann.place.rpartition("/")[2]
            heard = room.workstations._open[slot].heard
            room.clock.pass_(500)
            await room.workstations.check_workstation(slot, heard + GAP - 1)
            assert assignment_of(room.store, slot).running
            await room.workstations.check_workstation(slot, heard + GAP + 1)
            seat = assignment_of(room.store, slot)
            assert not seat.running and seat.seconds == GAP and seat.output
            await room.workstations.check_workstation(slot, heard + 10_000)
            assert slot not in room.workstations._open
            assert [f["path"] for f in (await ann.get(f"{ann.place}/files"))["files"]] == ["half.txt"]
            await _nothing(ann)
        await room.workstations.stop()

    asyncio.run(work())
    [mine] = [s for s in room.store.find(Submission) if s.author == "ann"]
    assert mine.parts["output"].files == 0


async def _nothing(ann: Browser) -> None:
    """Who uploads nothing may say so."""
    await ann.do("start")
    await ann.do("remove", {"path": "half.txt"})
    refused = await ann.send("POST", f"{ann.place}/submit", {})
    assert refused.status_code == 409
    assert (await ann.do("submit", {"empty": True}))["files"] == 0
