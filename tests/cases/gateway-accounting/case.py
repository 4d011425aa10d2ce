"""An outside case: programs that call their model many at once, hang up, end while a call is under way, or have a
service that tells no tokens. What the service's log says and what is recorded agree, request by request."""

from __future__ import annotations

import asyncio
import json
import threading
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.util import LimitExceededError, apply_limits, cost_limit, token_limit

from openai_server import Answer, Fault, says, serving
from openai_server.faults import Reply, reply
from worksample.background_services import supervise
from worksample.errors import WorksampleError
from worksample.models import ModelService, Price, resolve
from worksample.models.gateway import ModelGateway
from worksample.models.request_account import ModelAccount
from worksample.records import Usage

MODEL = "openai-api/local/model-1"
PRICES = {MODEL: Price(input=1.0, output=1.0)}
Program = Callable[["Place"], Awaitable[None]]


class Place:
    """Where a program finds its model, and what the service does meanwhile."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.came = threading.Semaphore(0)
        """A request reached the service."""
        self.free = threading.Event()
        """Held answers may go."""
        self.writers: list[asyncio.StreamWriter] = []

    async def call(self, mode: str) -> int:
        """One call to its end; the status that the program sees."""
        reader, writer = await self.begin(mode)
        status = await reader.readline()
        await reader.read()
        writer.close()
        return int(status.split()[1])

    async def begin(self, mode: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        body = json.dumps({"model": "model-1", "messages": [{"role": "user", "content": mode}]}).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        return reader, writer

    async def arrived(self, count: int) -> None:
        for _ in range(count):
            await asyncio.to_thread(self.came.acquire)


def without_usage() -> Answer:
    body = says("It is a cat.").body(0, "model-1")
    del body["usage"]
    return reply(200, body)


ANSWERS: dict[str, Answer] = {
    "fine": says("ok"),
    "held": says("late"),
    "no usage": without_usage(),
    "zeros": says("ok", input_tokens=0, output_tokens=0),
    "negative": says("ok", input_tokens=-5, output_tokens=-5),
    "no choices": Answer(fault=Fault.NO_CHOICES),
    "no JSON": Answer(fault=Fault.NOT_JSON),
    "400": Answer(fault=Fault.REJECTED),
    "500": Reply(status=500, content=b"{}", headers={"Retry-After": "0"}),
}


async def recorded(program: Program, turns: int | None = None, **limits: Any) -> tuple[Usage, list[dict[str, Any]]]:
    """What a program's calls took by the account, and what the service got."""
    account = ModelAccount(PRICES, **limits)
    place = Place(0)

    def answer(request: dict[str, Any], _: int) -> Answer:
        mode = str(request["messages"][-1]["content"])
        place.came.release()
        if mode == "held":
            place.free.wait(30)
        return ANSWERS[mode]

    with serving(answer) as served:
        gateway = ModelGateway(
            resolve(MODEL, ModelService(args=served.args, retries=0, prices=PRICES)), ("model-1", MODEL), turns
        )
        held = [cost_limit(limits.get("cost")), token_limit(limits.get("tokens"))]
        with account.current(), apply_limits(held, catch_errors=True):
            connections: set[asyncio.Task[None]] = set()

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                try:
                    await gateway.serve(reader, writer)
                finally:
                    writer.close()

            def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                connections.add(asyncio.ensure_future(serve(reader, writer)))

            server = await asyncio.start_server(accept, "127.0.0.1", 0)
            place.port = server.sockets[0].getsockname()[1]
            try:
                await supervise(program(place), gateway.failure)
            except (LimitExceededError, WorksampleError):
                pass  # how the work ended is another test's
            finally:  # as at a trial's end: what is under way is cut off
                server.close()
                for connection in connections:
                    connection.cancel()
                await asyncio.gather(*connections, return_exceptions=True)
        place.free.set()
        for writer in place.writers:
            writer.close()
        await account.settle()
        return account.total, served.requests


async def many(place: Place) -> None:
    await asyncio.gather(*(place.call("fine") for _ in range(50)))


async def hang_up(place: Place) -> None:
    for number in range(5):
        _, writer = await place.begin("held")
        await place.arrived(1)
        writer.close()
        assert number < 5
    place.free.set()
    await place.call("fine")


async def end_with_calls_under_way(place: Place) -> None:
    for _ in range(5):
        await place.begin("held")
    await place.arrived(5)


def one_after_another(*modes: str) -> Program:
    async def program(place: Place) -> None:
        for mode in modes:
            await place.call(mode)

    return program


PROGRAMS: dict[str, tuple[Program, dict[str, Any], dict[str, Any]]] = {
    "50 at once, cost for one": (many, {"cost": 0.0001}, {"calls": 1, "priced": True}),
    "50 at once, tokens for one": (many, {"tokens": 100}, {"calls": 1, "priced": True}),
    "50 at once, one turn": (many, {"turns": 1}, {"calls": 1, "priced": True}),
    "50 at once": (many, {}, {"calls": 50}),
    "hangs up": (hang_up, {}, {"calls": 6, "priced": True}),
    "ends with calls under way": (end_with_calls_under_way, {}, {"calls": 5, "priced": True}),
    "no usage": (one_after_another("no usage", "fine"), {}, {"calls": 2, "estimated": 1, "priced": False}),
    "zeros": (one_after_another("zeros", "fine"), {}, {"calls": 2, "estimated": 1, "priced": False}),
    "negative": (one_after_another("negative", "fine"), {}, {"calls": 2, "estimated": 1, "priced": False}),
    "no choices": (one_after_another("no choices"), {}, {"calls": 1, "priced": True}),
    "no JSON": (one_after_another("no JSON"), {}, {"calls": 1, "estimated": 1, "priced": False}),
    "400": (one_after_another("400", "fine"), {}, {"calls": 1, "failed": 1, "priced": True}),
    "500": (one_after_another("500"), {}, {"calls": 0, "failed": 0, "priced": False}),
}


async def all_agree() -> None:
    for name, (program, limits, expected) in PROGRAMS.items():
        used, requests = await recorded(program, **limits)
        # Of what failed or broke off some may never have reached the service: a busy machine drops connections.
        assert used.calls <= len(requests) <= used.requests, f"{name}: {used} for {len(requests)} requests"
        assert {key: getattr(used, key) for key in expected} == expected, f"{name}: {used}"
        if used.priced:
            assert used.cost == pytest.approx(120 * used.calls / 1e6), name


def check(room: Path, request: pytest.FixtureRequest) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine's
        asyncio.run(asyncio.wait_for(all_agree(), 120))
