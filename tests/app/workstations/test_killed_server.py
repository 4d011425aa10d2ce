"""A server killed with kill -9 during a person's work: another server continues with time and files."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.round.desks import RunningClock
from app.workstations.working import REPORT, Workroom
from cli.run_cli import start
from forking.child import Child
from worksample.records import AssignmentAct, Submission, Trial
from worksample.results.assignments.assignment import GAP, assignment_events, assignment_of
from worksample.store.integrity_check import check

QUICK = "app/workstations/test_taking_back_work.py::test_taken_back_task_starts_again_for_the_next_person"
# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def server(room: Workroom) -> Iterator[tuple[Child, Person]]:
    """`worksample serve` as a process of its own, and somebody who is signed in there."""
    process = start("serve", "--store", room.folder / "store", "--json", "--port", "0")
    try:
        said = json.loads(process.printing(lambda text: text.rstrip().endswith("}")))
        url = httpx.URL(said["url"])
        headers = {"Host": f"ws.localhost:{url.port}", "Origin": str(url).rstrip("/")}
        with httpx.Client(base_url=f"http://127.0.0.1:{url.port}/api/v1", headers=headers, timeout=120) as client:
            token = room.people.accounts.one_time_link("ann")
            entered = client.post("/session/link", json={"token": token, "bearer": True}).json()
            client.headers["Authorization"] = f"Bearer {entered['token']}"
            yield process, Person(client)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Person:
    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.slot: str = client.get("/places").json()[0]["slot"]

    def do(self, act: str, body: dict[str, Any] | None = None) -> Any:
        answer = self.client.post(f"/places/{self.slot}/{act}", json=body or {})
        assert answer.status_code < 300, f"{act}: {answer.text[:500]}"
        return answer.json() if answer.content else None

    def bring(self, path: str, data: bytes) -> None:
        self.do("files", {"path": path, "offset": 0, "data": base64.b64encode(data).decode(), "last": True})

    def files(self) -> list[str]:
        return [f["path"] for f in self.client.get(f"/places/{self.slot}/files").json()["files"]]

    def shown(self, until: str) -> None:
        """Read the terminal until it shows something."""
        seen, at = b"", 0
        while until not in seen.decode("utf-8", "replace"):
            screen = self.client.get(f"/places/{self.slot}/screen", params={"after": at, "wait": 5}).json()
            seen, at = seen + base64.b64decode(screen["data"]), screen["at"]


@pytest.mark.thorough(quick=QUICK)
def test_time_and_files_survive_a_killed_server(tmp_path: Path) -> None:
    room = Workroom(tmp_path, clock=RunningClock())  # type: ignore[arg-type]
    room.run()
    room.hire("ann", rate=60)
    with server(room) as (process, ann):
        ann.do("take")
        ann.do("start")
        ann.do("keys", {"text": "mkdir notes; echo mine > notes/a.txt; echo don''e\r"})
        ann.shown("done")
        ann.bring("half.txt", b"half")
        # What was brought is kept with the next sign of life.
        ann.do("heartbeat")
        kept = assignment_of(room.store, ann.slot)
        assert kept.running and kept.output and kept.seconds > 0
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert assignment_of(room.store, ann.slot) == kept
    with server(room) as (process, ann):
        # Whose server died is at work no longer than a gap, and her place is hers.
        timer = ann.do("pause")
        assert timer["state"] == "paused" and kept.seconds <= timer["seconds"] <= kept.seconds + GAP
        ann.do("start")
        assert set(ann.files()) >= {"half.txt", "notes/a.txt"}
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with server(room) as (_, ann):
        # Killed at once after a start, and nobody paused: starting goes on.
        assert ann.do("start")["state"] == "running"
        ann.do("remove", {"path": "notes"})
        ann.do("remove", {"path": "half.txt"})
        ann.bring("report.md", REPORT.encode())
        assert ann.do("submit")["files"] == 1
    acts = [event.act for event in assignment_events(room.store, ann.slot)]
    assert acts[:2] == [AssignmentAct.TAKEN, AssignmentAct.STARTED] and acts[-1] is AssignmentAct.HANDED_IN
    [done] = [t for t in room.store.find(Trial, live=True) if t.person_seconds is not None]
    assert timer["seconds"] <= (done.person_seconds or 0) <= timer["seconds"] + 2 * GAP + 600
    assert len([s for s in room.store.find(Submission) if s.author == "ann"]) == 1
    assert room.run().status.graded == 2
    assert check(room.store, deep=True) == []
