"""The gateway's HTTP: every input is answered or closed, in little memory and without blocking the loop."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

from models.wire import (
    BODIES,
    PATHS,
    busiest,
    fuzzed,
    listening,
    longest_turn,
    memory,
    mock_gateway,
    request,
    send,
    send_beside,
    status,
)
from running.profiles import examples
from worksample.models.gateway.http_server import HttpLimits, HttpRequest, HttpResponse, HttpServer

CHAT = json.dumps(BODIES[PATHS[0]]).encode()


async def echo(request: HttpRequest) -> HttpResponse:
    if request.path == "/fails":
        raise TypeError("unhashable type: 'list'")
    return HttpResponse(200, bytes(request.body) or request.method.encode(), "text/plain")


def fault(status: int, message: str, path: str) -> bytes:
    return message.encode()


def server(**limits: Any) -> HttpServer:
    return HttpServer(echo, fault, HttpLimits(**{"linger_seconds": 0.2, **limits}))


def post(body: bytes, **headers: str) -> bytes:
    return request("/x", body, **headers)


async def test_connect_upgrade_head_and_options_are_answered() -> None:
    async with listening(server()) as (port, raised):
        assert status(await send(port, b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\nhello")) == 405
        h2c = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2_Settings": "AAM"}
        for sent in (post(b"hi", **h2c), request("/x", b"hi", chunks=1, **h2c)):
            answer = await send(port, sent, b"more")
            assert status(answer) == 200 and answer.endswith(b"\r\n\r\nhi")
            assert b"Connection: close" in answer
        assert (
            status(await send(port, request("/x", b"", method="GET", Connection="Upgrade", Upgrade="websocket"))) == 200
        )
        head = await send(port, request("/x", b"", method="HEAD") * 2)
        assert head.count(b"HTTP/1.1 200") == 2 and b"Content-Length: 4" in head and head.endswith(b"\r\n\r\n")
        options = await send(port, request("/x", b"", method="OPTIONS"))
        assert status(options) == 204 and b"Allow: " in options
        assert status(await send(port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) == 400
    assert raised == []


async def test_internal_failure_is_answered_and_the_connection_continues() -> None:
    async with listening(server()) as (port, raised):
        answer = await send(port, request("/fails", b"x") + post(b"next"))
        assert status(answer) == 500 and answer.endswith(b"next")
    assert raised == []


async def test_requests_before_a_fault_are_answered() -> None:
    async with listening(server()) as (port, _):
        answer = await send(port, post(b"one") + b"\x16\x03\x01 no request\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200") and b"oneHTTP/1.1 400" in answer


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"POST /x HTTP/1.1\r\n" + b"".join(b"h%d: x\r\n" % n for n in range(101)) + b"\r\n", 431),
        (b"POST /x HTTP/1.1\r\n" + b"".join(b"h%d: %s\r\n" % (n, b"x" * 1000) for n in range(99)) + b"\r\n", 431),
        (b"POST /x HTTP/1.1\r\nA: " + b"x" * 300_000, 431),
        (b"GET /" + b"x" * 300_000, 431),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: " + b"x" * 300_000, 431),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 300_000, 431),
        (b"POST /x HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + b"x" * 1001, 413),
        (b"POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"POST /x HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ],
)
async def test_every_request_limit_has_its_response(sent: bytes, code: int) -> None:
    made = server(body_bytes=1000)
    async with listening(made) as (port, raised):
        assert status(await send(port, sent)) == code
    assert (raised, made.held) == ([], 0)


@pytest.mark.parametrize(
    "sent", [b"POST /x HTTP/1.1\r\nA: b", b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", b""]
)
async def test_idle_connection_is_told_and_closed(sent: bytes) -> None:
    """A connection that says nothing at all is closed without a word."""
    made = server(head_seconds=0.2, pause_seconds=0.2, idle_seconds=0.2)
    async with listening(made) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        answer = await reader.read()
        writer.close()
        assert (status(answer) if sent else answer) == (408 if sent else b"")


async def test_bodies_of_all_connections_are_bounded_together() -> None:
    made = server(held_bytes=1 << 20)
    async with listening(made) as (port, _):
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(16)]
        for _, writer in held:
            writer.write(b"POST /x HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + b"x" * 499_999)
        refused = {asyncio.create_task(reader.readline()) for reader, _ in held}
        while len(done := {task for task in refused if task.done()}) < 14:
            await asyncio.wait(refused - done, return_when=asyncio.FIRST_COMPLETED)
            assert made.held <= 1 << 20
        assert {task.result()[9:12] for task in done} == {b"429"}
        for task in refused - done:
            task.cancel()
        for _, writer in held:
            writer.close()
        while made.held:
            await asyncio.sleep(0.01)


async def test_client_that_reads_no_responses_is_closed() -> None:
    made = server(answer_seconds=0.3)
    async with listening(made) as (port, _):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 10)
        writer.write(post(b"x" * (20 << 20)))
        while not made.held:
            await asyncio.sleep(0.01)
        while made.held:
            await asyncio.sleep(0.01)
        writer.close()


LARGE = 31 << 20
HEAVY = {
    "objects": b'{"model":"m","messages":[' + b"{}," * (LARGE // 3) + b"{}]}",
    "messages": b'{"model":"m","messages":[' + b'{"role":"user","content":""},' * (LARGE // 29) + b"{}]}",
    "arguments": json.dumps({"model": "m", "messages": [{"role": "assistant", "tool_calls": [
        {"id": "c", "function": {"name": "f", "arguments": "[" + "{}," * (1 << 20) + "{}]"}}]}]}).encode(),
    "levels": b'{"a":' * (LARGE // 5),
    "numbers": b"[" + (b"9" * 4299 + b",") * 5000 + b"1]",
    "escapes": b'{"model":"' + b"\\u00e9" * (LARGE // 6) + b'"}',
}  # fmt: skip


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.quick("objects", "arguments")) for kind in HEAVY]
)
def test_expensive_body_is_refused_and_delays_nobody(kind: str) -> None:
    heavy = request(PATHS[0], HEAVY[kind])

    async def work() -> None:
        gateway = mock_gateway()
        async with listening(gateway.http) as (port, raised):
            assert status(await send(port, request(PATHS[0], CHAT))) == 200
            assert status(await send_beside(port, heavy)) in (400, 404)
        assert (raised, gateway.failure.error, gateway.http.held) == ([], None, 0)

    assert busiest(work()) < longest_turn()


def test_body_parsed_on_the_loop_is_detected() -> None:
    async def work() -> None:
        json.loads(b"[" + b"{}," * (LARGE // 6) + b"{}]")

    assert busiest(work()) > 2 * longest_turn()


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
LISTED = {**CALL, "function": {"name": "f", "arguments": "[" + "{}," * 60_000 + "{}]"}}
MANY: dict[str, tuple[dict[str, Any], bytes]] = {
    "calls": ({"role": "assistant", "content": None, "tool_calls": [CALL] * 30_000}, b"30000 tool calls"),
    "pictures": ({"role": "user", "content": [PICTURE] * 30_000}, b"30000 tool calls and parts"),
    "arguments": ({"role": "assistant", "content": None, "tool_calls": [LISTED] * 3}, b"values in the arguments"),
}
"""Sound requests that the engine would copy piece by piece."""


@pytest.mark.parametrize("kind", MANY)
def test_body_of_many_pieces_is_refused_by_its_limit(kind: str) -> None:
    message, why = MANY[kind]
    heavy = request(PATHS[0], json.dumps({"model": "m", "messages": [message]}).encode())

    async def work() -> None:
        gateway = mock_gateway()
        async with listening(gateway.http) as (port, raised):
            answer = await send_beside(port, heavy)
            assert status(answer) == 400 and why in answer, answer
        assert (raised, gateway.failure.error, gateway.served) == ([], None, 0)

    assert busiest(work()) < longest_turn()


async def test_body_in_small_pieces_is_read_completely() -> None:
    made = server()
    body = random.Random(1).randbytes(3 << 20)
    async with listening(made) as (port, _):
        answer = await send_beside(port, request("/x", body, chunks=70_001) + request("/x", body))
    assert answer.count(body) == 2 and made.held == 0


def bomb(levels: int, width: int = 2) -> dict[str, Any]:
    """A schema of a kilobyte that is `width ** levels` nodes once its references are replaced."""
    defs: dict[str, Any] = {f"d{n}": {str(k): {"$ref": f"#/x/d{n + 1}"} for k in range(width)} for n in range(levels)}
    return {"type": "object", "properties": {"p": {"$ref": "#/x/d0"}}, "x": {**defs, f"d{levels}": {"type": "string"}}}


def around_itself(count: int) -> dict[str, Any]:
    names = [f"n{n}" for n in range(count)]
    own = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    return {
        "type": "object",
        "properties": own,
        "$defs": {name: {"type": "object", "properties": own} for name in names},
    }


@pytest.mark.parametrize("path", PATHS)
def test_exponential_schema_is_refused_by_its_limit(path: str) -> None:
    def asking(schema: Any, count: int = 1) -> bytes:
        text = json.dumps(BODIES[path]).replace(json.dumps(SCHEMA_HERE), json.dumps(schema))
        return request(path, text.encode())

    SCHEMA_HERE = {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
    long = {
        "type": "object",
        "properties": {"p": {"$ref": "#/x"}},
        "x": {"$ref": "#/y", **{f"k{n}": 1 for n in range(1000)}},
    }

    async def work() -> None:
        gateway = mock_gateway()
        async with listening(gateway.http) as (port, raised):
            for schema in (bomb(18), bomb(30), bomb(8, 9), around_itself(9)):
                answer = await send(port, asking(schema))
                assert status(answer) == 400 and b"20000 nodes" in answer, answer
            for schema in (bomb(5), around_itself(1), around_itself(2), {**long, "y": {"type": "object"}}):
                assert status(await send(port, asking(schema))) == 200
        assert (raised, gateway.failure.error) == ([], None)

    assert busiest(work()) < longest_turn()


def fuzz(first: int, count: int) -> None:
    """Send so many odd requests, a few at once, and look that nothing stays of them."""

    async def work() -> None:
        gateway = mock_gateway()
        async with listening(gateway.http) as (port, raised):
            for number in range(8):
                await send(port, request(PATHS[number % 4], json.dumps(BODIES[PATHS[number % 4]]).encode()))
            before, places = memory(), asyncio.Semaphore(4)

            async def one(number: int) -> None:
                async with places:
                    answer = await send(port, *fuzzed(number))
                    assert answer == b"" or answer.startswith(b"HTTP/1.1 "), (number, answer[:80])
                    assert b"HTTP/1.1 500" not in answer, (number, answer[:300])

            await asyncio.gather(*map(one, range(first, first + count)))
            assert raised == []
            assert (gateway.failure.error, gateway.http.held) == (None, 0)
            assert memory() - before < 200 << 20
            assert status(await send(port, request(PATHS[0], CHAT))) == 200

    assert busiest(work()) < longest_turn()


def test_odd_requests_leave_no_exception_stall_or_memory() -> None:
    fuzz(0, examples(1200))


@pytest.mark.long(150)
@pytest.mark.thorough(quick="models/test_gateway_http.py::test_odd_requests_leave_no_exception_stall_or_memory")
def test_ten_thousand_odd_requests_leave_nothing() -> None:
    fuzz(10_000, 10_000)
