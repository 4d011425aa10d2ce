"""Evaluators at work over real connections, against a server that may be killed while they work."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forking.child import Child
from people.worlds import Office
from worksample.people import Account
from worksample.records import Evaluation, ResolutionRule
from worksample.store import Store

HOST = "ws.localhost"
ANSWER = {"score": 2, "justification": "report.txt has every figure of the brief"}


class Gone(Exception):
    """The connection ended before an answer came."""


class Line:
    """One keep-alive connection: as little client as HTTP allows, so that the server is what is measured."""

    def __init__(self, port: int, token: str, host: str = HOST) -> None:
        self._port = port
        self._head = f"Host: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer. Raises Gone."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            return await self._exchange(*self._streams, method, path, body)
        except (OSError, asyncio.IncompleteReadError, ValueError) as e:
            await self.close()
            raise Gone from e

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: Any
    ) -> tuple[int, Any]:
        data = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json\r\n" if body is not None else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        said = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(said[0].split()[1])
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in said[1:])}
        length = int(headers.get("content-length", "0"))
        answer = await reader.readexactly(length) if length else b""
        if headers.get("connection") == "close":
            await self.close()
        return status, json.loads(answer) if answer else None

    async def close(self) -> None:
        if self._streams is not None:
            writer, self._streams = self._streams[1], None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@dataclass
class Tally:
    """What the evaluators saw. `took`: seconds by what was asked, without those that met the outage."""

    took: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Item -> evaluation, as answered."""
    twice: list[str] = field(default_factory=list)
    """Items that were acknowledged to two people: must stay empty."""
    again: int = 0
    """Requests that were sent again since the server was gone."""
    refused: list[tuple[str, int, Any]] = field(default_factory=list)


class Evaluator:
    """Claims, looks, saves a draft, hands in, until nothing is left; after a failure the same request again."""

    def __init__(self, line: Line, tally: Tally, pause: Callable[[], Awaitable[None]] | None = None) -> None:
        self._line, self._tally, self._pause = line, tally, pause

    async def work(self) -> None:
        while True:
            if self._pause is not None:
                await self._pause()
            status, item = await self._ask("claim", "POST", "/api/v1/claims", {})
            if status == 204:
                return
            if status != 200:
                raise AssertionError(f"claim: {status} {item}")
            here = f"/api/v1/items/{item['id']}"
            await self._ask("item", "GET", here)
            draft = {"revision": (item["draft"] or {}).get("revision", 0), "payload": ANSWER, "active_seconds": 0.1}
            await self._ask("draft", "PUT", f"{here}/draft", draft)
            body = {"payload": ANSWER, "key": f"key of {item['id']}", "active_seconds": 0.1}
            status, given = await self._ask("submit", "POST", f"{here}/submit", body)
            if status == 200:
                if item["id"] in self._tally.acknowledged:
                    self._tally.twice.append(item["id"])
                self._tally.acknowledged[item["id"]] = given["evaluation"]

    async def _ask(self, name: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        first = True
        while True:
            start = time.perf_counter()
            try:
                status, answer = await self._line.ask(method, path, body)
            except Gone:
                first = False
                self._tally.again += 1
                await asyncio.sleep(0.1)
                continue
            if first:
                self._tally.took.setdefault(name, []).append(time.perf_counter() - start)
            if status >= 400:
                self._tally.refused.append((name, status, answer))
            return status, answer


class Server:
    """`worksample serve` as a process of its own, on one port for all of its lives. `forked`: from what a test has
    imported already.
    """

    def __init__(self, store: Path, *, workers: int = 1, forked: bool = False) -> None:
        self._store, self._workers, self._forked = store, workers, forked
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | Child | None = None
        self._before = (0.0, 0.0)

    def start(self, seconds: float = 180) -> float:
        """Returns after how many seconds it listened."""
        began = time.monotonic()
        words = [
            "serve",
            "--store",
            str(self._store),
            "--port",
            str(self.port),
            "--workers",
            str(self._workers),
            "--json",
        ]
        if self._forked:
            self._process = Child("worksample", words)
        else:
            command = [sys.executable, "-m", "worksample", *words]
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        while time.monotonic() < began + seconds:
            if self._process.poll() is not None:
                raise AssertionError(f"the server ended with {self._process.returncode}")
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=10) as probe:
                probe.settimeout(10)
                probe.sendall(f"GET /api/v1/me HTTP/1.1\r\nHost: {HOST}:{self.port}\r\n\r\n".encode())
                if probe.recv(12).startswith(b"HTTP/1.1 401"):
                    return time.monotonic() - began
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """As a power cut would: the server and all of its processes."""
        assert self._process is not None
        if self._process.poll() is None:
            self._before = self.worked()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def worked(self) -> tuple[float, float]:
        """Seconds of the processor so far, in all lives: of the processes that answer, and of all that they started."""
        answering, others = self._worked()
        return self._before[0] + answering, self._before[1] + others

    def _worked(self) -> tuple[float, float]:
        import psutil

        assert self._process is not None
        try:
            head = psutil.Process(self._process.pid)
            servers = [head, *(head.children() if self._workers > 1 else ())]
            each = [p.cpu_times() for p in servers]
            boxes = [p.cpu_times() for p in {*head.children(recursive=True)} - {*servers}]
        except psutil.NoSuchProcess:
            # One that ended in between is within its parent's now.
            return self._worked() if psutil.pid_exists(self._process.pid) else (0.0, 0.0)
        answering = sum(t.user + t.system for t in each)
        ended = sum(t.children_user + t.children_system for t in each)
        return answering, ended + sum(t.user + t.system + t.children_user + t.children_system for t in boxes)

    def stop(self) -> int:
        """As Ctrl-C does; returns its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(120)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def stock(folder: Path, *, evaluators: int, agents: int, projects: int) -> tuple[str, list[str]]:
    """A store with a round of one vote for each of agents times projects deliverables; its id, and session tokens."""
    from worksample.people.clock import now_in_microseconds

    store = Store.open(folder, create=True)
    desk = Office(store, agents=agents, projects=projects, clock=now_in_microseconds)  # type: ignore[arg-type]
    round = desk.open(overlap=1, rule=ResolutionRule.LATEST)
    people: list[Account] = [desk.hire(f"evaluator {n}") for n in range(evaluators)]
    tokens = [desk.people.accounts.open_session(account) for account in people]
    store.close()
    return round.id, tokens


async def work_off(
    server: Server, tokens: list[str], tally: Tally, *, kill_at: int | None = None,
    pause: Callable[[], Awaitable[None]] | None = None,
) -> float:  # fmt: skip
    """All evaluators until nothing is left; `kill_at`: acknowledged answers at which the server is killed.

    Returns the seconds it took without the server's absence.
    """
    lines = [Line(server.port, token) for token in tokens]
    began, away = time.perf_counter(), 0.0
    tasks = [asyncio.create_task(Evaluator(line, tally, pause).work()) for line in lines]
    working = asyncio.gather(*tasks)
    if kill_at is not None:
        while len(tally.acknowledged) < kill_at and not working.done():
            await asyncio.sleep(0.01)
        gone = time.perf_counter()
        server.kill()
        await asyncio.to_thread(server.start)
        away = time.perf_counter() - gone
    await working
    took = time.perf_counter() - began - away
    for line in lines:
        await line.close()
    return took


def proof(store: Path, round: str, tally: Tally, wanted: int) -> None:
    """None doubled, none lost: the store holds one evaluation per item, and each that was acknowledged."""
    with Store.open(store) as opened:
        kept = opened.find(Evaluation, round=round)
        items = [e.record["item"] for e in kept]
        assert len(items) == len(set(items)) == wanted, f"{len(items)} evaluations of {len(set(items))} items"
        known = {e.id for e in kept}
        assert len(set(tally.acknowledged.values())) == len(tally.acknowledged)
        lost = [item for item, id in tally.acknowledged.items() if id not in known]
        assert not lost, f"acknowledged and lost: {lost}"
        assert not tally.twice, f"acknowledged twice: {tally.twice}"
