"""Services in separate boxes: reachable by name from the agent's box only; their end and their state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from worksample.background_services import supervise
from worksample.box import Box, BoxConfig, Endpoint
from worksample.errors import AgentError, Cause, SandboxError
from worksample.records import CaptureStatus, ServiceLimits, ServiceSpec, SourceFiles
from worksample.sandboxes import open_box
from worksample.sandboxes.capture import CaptureLimits
from worksample.sandboxes.endpoints import ConnectionLedger, serve_endpoints
from worksample.sandboxes.services import TrialServices, export_state, open_services
from worksample.sandboxes.services.service_boxes import service_boxes
from worksample.store import Store

pytestmark = pytest.mark.box

DESK = (Path(__file__).parent / "desk.py").read_text()
SHOP, TRACKER = Endpoint("shop.example.com", 80), Endpoint("tracker.example.com", 8080)


NAMES = {SHOP: "service:shop", TRACKER: "service:tracker"}


def desk(name: str = "shop", port: int = 8000, **more: Any) -> ServiceSpec:
    argv = ("python3", "-c", DESK, str(port), "{state}", "{files}", *more.pop("words", ()))
    return ServiceSpec(**{"name": name, "box": name, "argv": argv, "ports": (port,), **more})


@asynccontextmanager
async def reached(
    folder: Path, *served: ServiceSpec, before: bool = False, names: Mapping[Endpoint, str] = NAMES
) -> AsyncIterator[tuple[Box, TrialServices, ConnectionLedger]]:
    """An agent's box, and the services behind their endpoints."""
    (folder / "word.txt").write_text("swordfish")
    endpoints = tuple(place for place, to in names.items() if to.split(":")[1] in [one.name for one in served])
    plan = service_boxes(served, lambda digest: folder, "services")
    async with (
        open_services(plan, "bubblewrap", asked_before=before) as services,
        open_box(BoxConfig(network="endpoints", endpoints=endpoints)) as box,
        serve_endpoints(box, {place: services.target(names[place]) for place in endpoints}) as ledger,
    ):
        yield box, services, ledger


FETCH = """
import sys, urllib.error, urllib.request
for word in sys.argv[1:]:
    url, _, data = word.partition("=")
    try: print(urllib.request.urlopen(url, data.encode() or None, timeout=120).read().decode())
    except OSError as e: print(type(e).__name__, e)
"""


async def fetch(box: Box, *urls: str) -> list[str]:
    done = await box.run(["python3", "-c", FETCH, *urls], timeout=120)
    return (done.stdout + done.stderr).decode().splitlines()


async def test_service_behind_an_endpoint_is_reached_recorded_and_exported(tmp_path: Path) -> None:
    served = (desk(files=SourceFiles(name="x", files="0" * 64)), desk("tracker", 9000, ready="/given", **GIVEN))
    async with reached(tmp_path, *served) as (box, services, ledger):
        said = await fetch(
            box, "http://shop.example.com/note=milk", "http://shop.example.com/note", "http://shop.example.com/given",
            "http://tracker.example.com:8080/note=bug",
        )  # fmt: skip
        assert said == ["kept", "milk", "swordfish", "kept"]
        blobs = Store.open(tmp_path / "store", create=True).blobs
        found = await export_state(services, blobs, ["shop"], CaptureLimits())
        assert found.cause is None and found.part.status is CaptureStatus.COMPLETE
        entries = json.loads(blobs.read(found.part.manifest))["entries"]
        files = {e["path"]: blobs.read(e["blob"]) for e in entries if e.get("blob")}
        assert files["shop/note"] == b"milk"
        assert b"open for business" in files["shop.log"]
        assert not any(path.startswith("tracker") for path in files)
        assert await fetch(box, "http://shop.example.com/note") == ["milk"]  # it was thawed
    rows = ledger.plain()
    assert {(row["endpoint"], row["rule"]) for row in rows} == {
        ("shop.example.com:80", "service shop:8000"),
        ("tracker.example.com:8080", "service tracker:9000"),
    }
    assert all(row["sent"] > 10 and row["received"] > 10 for row in rows)


GIVEN: Mapping[str, Any] = {"files": SourceFiles(name="x", files="0" * 64)}

LOOK = """
import socket
for address, port in (("127.0.0.1", 8000), ("127.0.0.1", 9000), ("127.65.0.1", 80), ("127.65.0.2", 8080),
                      ("shop.example.com", 80), ("tracker.example.com", 8080), ("1.1.1.1", 53)):
    try: socket.create_connection((address, port), timeout=5); print(address, port)
    except OSError: pass
"""


async def test_service_reaches_only_its_own_box(tmp_path: Path) -> None:
    served = (desk(), desk("tracker", 9000))
    async with reached(tmp_path, *served) as (box, services, _):
        (shop, _), (tracker, _) = services.boxes
        assert (await shop.run(["python3", "-c", LOOK])).stdout == b"127.0.0.1 8000\n"
        assert (await tracker.run(["python3", "-c", LOOK])).stdout == b"127.0.0.1 9000\n"
        agents = (await box.run(["python3", "-c", LOOK])).stdout.decode().split("\n")
        assert not any(line.startswith("127.0.0.1 ") for line in agents)


async def test_services_of_one_box_share_its_loopback_and_start_in_order(tmp_path: Path) -> None:
    second = "import socket, sys; socket.create_connection(('127.0.0.1', 8000)).close(); exec(sys.argv.pop(1))"
    tracker = ServiceSpec(
        name="tracker", box="office", ports=(9000,),
        argv=("python3", "-c", second, DESK, "9000", "{state}", "{files}"),
        limits=ServiceLimits(memory=100 << 20),
    )  # fmt: skip
    async with reached(tmp_path, desk(box="office"), tracker) as (box, services, _):
        assert len(services.boxes) == 1
        assert services.boxes[0][0].config.limits.memory == (512 << 20) + (100 << 20)
        assert await fetch(box, "http://tracker.example.com:8080/a=1", "http://shop.example.com/b=2") == ["kept"] * 2
        blobs = Store.open(tmp_path / "store", create=True).blobs
        part = (await export_state(services, blobs, ["shop", "tracker"], CaptureLimits())).part
        entries = {e["path"] for e in json.loads(blobs.read(part.manifest))["entries"]}
        assert {"shop/b", "tracker/a", "shop.log", "tracker.log"} <= entries


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (desk(words=("no licence",)), "ended with exit status 1 before it was ready; it said: no licence"),
        (desk(argv=("no-such-program",)), "no-such-program: No such file or directory"),
        (desk(ports=(1234,), wait=0.3), "was not ready within 0.3 s: port 1234"),
        (desk(ready="/absent", wait=0.5), "GET /absent: HTTP/1.0 404"),
    ],
)
async def test_failed_start_of_a_service_reports_its_output(tmp_path: Path, spec: ServiceSpec, says: str) -> None:
    with pytest.raises(SandboxError) as told:
        async with reached(tmp_path, desk("tracker", 9000), spec):
            pass
    assert told.value.cause is Cause.SERVICE_START
    assert told.value.where == "service shop" and says in told.value.what


async def ended(services: TrialServices, act: Any) -> BaseException:
    async def work() -> None:
        await act()
        await asyncio.Event().wait()

    with pytest.raises((SandboxError, AgentError)) as told:
        await asyncio.wait_for(supervise(work(), services.failure), 300)
    return told.value


async def test_service_that_dies_by_itself_is_the_platforms_failure(tmp_path: Path) -> None:
    async with reached(tmp_path, desk()) as (box, services, _):

        async def act() -> None:
            await services.boxes[0][0].clear()

        error = await ended(services, act)
        assert isinstance(error, SandboxError) and error.cause is Cause.SERVICE_LOST
        assert "reset" in (await fetch(box, "http://shop.example.com/"))[0]
    async with reached(tmp_path, desk()) as (_, services, _):
        error = await ended(services, services.boxes[0][0].kill)
        assert isinstance(error, SandboxError) and error.cause is Cause.SERVICE_LOST


@pytest.mark.parametrize(("path", "says"), [("end", "exit status 3"), ("eat", "memory")])
async def test_agent_that_kills_a_service_twice_is_to_blame(tmp_path: Path, path: str, says: str) -> None:
    for before, cause in ((False, Cause.SERVICE_ASKED), (True, Cause.AGENT_SERVICE)):
        served = desk(limits=ServiceLimits(memory=80 << 20, disk=1 << 20))
        async with reached(tmp_path, served, before=before) as (box, services, _):
            asking: list[asyncio.Task[list[str]]] = []

            async def act(box: Box = box, asking: list[asyncio.Task[list[str]]] = asking) -> None:
                asking.append(asyncio.create_task(fetch(box, f"http://shop.example.com/{path}")))

            error = await ended(services, act)
            assert getattr(error, "cause", None) is cause and says in str(error)
            assert "Remote" in (await asking[0])[0] or "reset" in str(asking[0].result())


async def test_work_that_ends_first_is_not_delayed(tmp_path: Path) -> None:
    async def seven() -> int:
        return 7

    async with reached(tmp_path, desk()) as (_, services, _):
        assert await supervise(seven(), services.failure) == 7


async def test_service_that_does_not_read_delays_nobody_else(tmp_path: Path) -> None:
    deaf = "import socket; s = socket.create_server(('127.0.0.1', 9000)); k = [s.accept() for _ in range(10**6)]"
    served = (desk(), ServiceSpec(name="tracker", box="tracker", argv=("python3", "-c", deaf), ports=(9000,)))
    flood = """
import socket, sys
ends = []
for _ in range(80):
    s = socket.socket(); s.setblocking(False)
    try: s.connect(("tracker.example.com", 8080))
    except BlockingIOError: pass
    ends.append(s)
one = socket.create_connection(("tracker.example.com", 8080)); one.settimeout(0.5)
try: one.sendall(b"x" * (64 << 20)); print("all")
except TimeoutError: print("held up")
import urllib.request
print(urllib.request.urlopen("http://shop.example.com/a", b"1", timeout=120).read())
"""
    async with reached(tmp_path, *served) as (box, _, _):
        done = await box.run(["python3", "-c", flood], timeout=120)
        assert done.stdout.decode().splitlines() == ["held up", "b'kept'"], done
