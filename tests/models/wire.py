"""A gateway on loopback, requests as bytes, and a loop that says how long it was kept busy in one go."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import selectors
import socket
import time
import warnings
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from worksample.models.gateway import ModelGateway
from worksample.models.gateway.http_server import HttpServer

PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/m:generateContent")
SCHEMA = {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
BODIES: dict[str, dict[str, Any]] = {
    PATHS[0]: {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
            {"role": "tool", "tool_call_id": "c", "content": "1"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}],
        "tool_choice": "auto", "temperature": 0.5, "max_tokens": 5, "stream": False,
    },
    PATHS[1]: {
        "model": "m", "instructions": "s",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": False}],
    },
    PATHS[2]: {
        "model": "m", "max_tokens": 5, "system": [{"type": "text", "text": "s"}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "1"}]},
        ],
        "tools": [{"name": "f", "description": "d", "input_schema": SCHEMA}],
    },
    PATHS[3]: {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}]}],
        "generationConfig": {"maxOutputTokens": 5, "temperature": 0.5},
    },
}  # fmt: skip


def request(path: str, body: bytes, *, chunks: int = 0, method: str = "POST", **headers: str) -> bytes:
    """One request; chunks: the body comes in chunks of so many bytes."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: model.internal",
        *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items()),
    ]
    if not chunks:
        return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body
    head = "\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""]).encode()
    parts = [body[n : n + chunks] for n in range(0, len(body), chunks)]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


class Work:
    """Processor time of this thread without the collector's: what it takes depends on all that a process holds, and a
    run has it look at little."""

    def __init__(self) -> None:
        self._garbage = self._since = 0.0

    def __enter__(self) -> Work:
        gc.callbacks.append(self._collected)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._collected)

    def seconds(self) -> float:
        """Since the thread began."""
        return time.thread_time() - self._garbage

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._since = time.thread_time()
        else:
            self._garbage += time.thread_time() - self._since


class Busy(selectors.EpollSelector):
    """Measures the work of the loop's thread between two waits."""

    worst = 0.0
    _since: float | None = None

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See selectors.BaseSelector."""
        if self._since is not None:
            self.worst = max(self.worst, self._work.seconds() - self._since)
        found = super().select(timeout)
        self._since = self._work.seconds()
        return found


def longest_turn() -> float:
    """Seconds for which the loop may work without a pause on this machine: what json takes for 3 MB, a tenth of the
    heaviest body. The middle of three, since other programs disturb each."""
    body = b"[" + b"{}," * 1_000_000 + b"{}]"
    taken = []
    with _frozen(), Work() as work:
        for _ in range(3):
            begun = work.seconds()
            json.loads(body)
            taken.append(work.seconds() - begun)
    return sorted(taken)[1]


@contextmanager
def _frozen() -> Iterator[None]:
    """What a run does: else the collector looks at all of the libraries now and then."""
    gc.collect()
    already = gc.get_freeze_count() > 0
    gc.freeze()
    try:
        yield
    finally:
        if not already:  # what the tests' own plugin put aside stays there
            gc.unfreeze()


async def _warm() -> None:
    """Libraries load parts of themselves with the first request of each sort."""
    async with listening(mock_gateway().http) as (port, _):
        for path in PATHS:
            await send(port, request(path, json.dumps(BODIES[path]).encode()))


def busiest(work: Coroutine[Any, Any, None]) -> float:
    """Run it; the longest time, in seconds of processor time, in which the loop could do nothing else."""
    selector = Busy(measured := Work())
    with (
        _frozen(),
        measured,
        asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner,
    ):
        runner.run(_warm())
        selector.worst = 0.0
        runner.run(work)
        return selector.worst


@modelapi(name="yes")
class SayYes(ModelAPI):
    """A model that always says the same, with no service behind it."""

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See ModelAPI."""
        output = ModelOutput.from_content("yes", "Yes.")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


def mock_gateway() -> ModelGateway:
    """A gateway to it."""
    warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine
    return ModelGateway(get_model("yes/model", memoize=False), ("m",))


@asynccontextmanager
async def listening(server: HttpServer) -> AsyncIterator[tuple[int, list[BaseException]]]:
    """Its port on loopback, and all that was raised out of it but broken connections."""
    raised: list[BaseException] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await server.serve(reader, writer)
        except ConnectionError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, there must be none
            raised.append(error)
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1], raised


async def send(port: int, *pieces: bytes) -> bytes:
    """All that is answered to these bytes, when nothing more follows them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            writer.write_eof()
        except ConnectionError:
            pass
        try:
            return await reader.read()
        except ConnectionError:
            return b""
    finally:
        writer.close()


async def send_beside(port: int, data: bytes) -> bytes:
    """All that is answered to these bytes, sent by another thread: what is measured is the server alone."""

    def sent() -> bytes:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: client.recv(1 << 16), b""))

    return await asyncio.to_thread(sent)


def status(answer: bytes) -> int:
    """HTTP's."""
    return int(answer.split(b" ", 2)[1])


def memory() -> int:
    """Bytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


ODD: tuple[Any, ...] = (
    None, True, 0, -1, 10**400, 1e400, float("nan"), "", "\ud800", "x" * 5000, [], {}, [1], [[]], [None], {"$ref": "#"},
    {"type": "text", "text": "x"}, {"a": {"$ref": "#/properties"}}, [{"role": "user"}], "data:", "m", "tool", 1.5,
)  # fmt: skip


def mutated(value: Any, rng: random.Random) -> Any:
    """The value with something in it replaced, doubled, wrapped or taken away."""
    if not isinstance(value, (list, dict)) or not value or rng.random() < 0.15:
        how = rng.randrange(4)
        return [rng.choice(ODD), [value] * rng.randrange(4), {"a": value}, rng.choice(ODD)][how]
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return [*value[:at], mutated(value[at], rng), *value[at + rng.randrange(2) :]]
    key = rng.choice(list(value))
    changed = {**value, key: mutated(value[key], rng)}
    if rng.random() < 0.2:
        changed[rng.choice(["type", "\ud800", "", "$ref", "role", "content"])] = rng.choice(ODD)
    return changed


def odd_bytes(data: bytes, rng: random.Random) -> bytes:
    """The bytes with some of them changed, cut out, doubled, or pieces of HTTP and JSON put between."""
    pieces = (b"\r\n", b"\0", b"\xff", b"{", b"[" * 600, b"{}," * 5000, b'"', b": ", b"\r\n\r\n", b"HTTP/1.1",
              b"Upgrade: x", b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"Transfer-Encoding: chunked\r\n",
              b"Content-Length: 3\r\n", b"Expect: 100-continue\r\n",
              b"\r\nx" * 150, b"9" * 5000)  # fmt: skip
    for _ in range(rng.randrange(1, 4)):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        how = rng.randrange(4)
        if how == 0:
            data = data[:at] + rng.choice(pieces) + data[at:]
        elif how == 1:
            data = data[:at] + data[min(end, at + 40) :]
        elif how == 2:
            data = data[:end] + data[at:end][:500] + data[end:]
        else:
            data = data[:at] + rng.randbytes(rng.randrange(5)) + data[at:]
    return data


def fuzzed(number: int) -> list[bytes]:
    """Some pieces that are sent one after the other: the same for the same number."""
    rng = random.Random(number)
    path = rng.choice(PATHS)
    body: Any = BODIES[path]
    if rng.random() < 0.8:
        for _ in range(rng.randrange(1, 4)):
            body = mutated(body, rng)
    data = json.dumps(body).encode()
    if rng.random() < 0.2:
        data = odd_bytes(data, rng)
    method = rng.choice(["POST"] * 12 + ["GET", "HEAD", "PUT", "OPTIONS", "CONNECT", "M-SEARCH"])
    whole = request(path, data, chunks=rng.choice([0, 0, 1, 7, 1000]), method=method)
    whole *= rng.choice([1, 1, 1, 2, 5])
    if rng.random() < 0.3:
        whole = odd_bytes(whole, rng)
    cuts = sorted(rng.randrange(len(whole) + 1) for _ in range(rng.randrange(3)))
    return [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
