"""The connection between a grader and its platform: every request is answered or ends it, and all sizes are bounded."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample.box import Connection
from worksample.errors import Cause, GraderError, JudgeError, SandboxError
from worksample.kit.broker_client import HEAD, REQUEST_LIMIT, frame
from worksample.sandboxes.pipes import SocketConnection
from worksample.sandboxes.request_broker import REQUESTS, RequestBroker


class Door:
    """A listener whose connections are the far ends of pairs of sockets."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Connection] = asyncio.Queue()

    async def enter(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        near, far = socket.socketpair()
        self._waiting.put_nowait(SocketConnection(far))
        return await asyncio.open_unix_connection(sock=near)

    async def accept(self) -> Connection:
        return await self._waiting.get()

    async def close(self) -> None:
        pass


async def echo(body: Mapping[str, Any]) -> dict[str, Any]:
    return dict(body)


async def slow(body: Mapping[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0.2)
    return {}


async def boxless(body: Mapping[str, Any]) -> dict[str, Any]:
    raise SandboxError("no box can be had")


async def unjudged(body: Mapping[str, Any]) -> dict[str, Any]:
    raise JudgeError("no judge answers", cause=Cause.JUDGE_LACKS if body else None)


async def answer(reader: asyncio.StreamReader) -> dict[str, Any]:
    async with asyncio.timeout(300):
        (length,) = HEAD.unpack(await reader.readexactly(HEAD.size))
        return dict(json.loads(await reader.readexactly(length)))


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether the line is closed, perhaps over words that nobody read."""
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


class Served:
    """A broker that serves a door."""

    def __init__(self) -> None:
        self.door, self.broker = (
            Door(),
            RequestBroker({"echo": echo, "slow": slow, "boxless": boxless, "unjudged": unjudged}),
        )

    async def __aenter__(self) -> Served:
        self._serving = asyncio.create_task(self.broker.serve(self.door))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert not self._serving.done(), "the broker gave up"
        self._serving.cancel()
        await asyncio.gather(self._serving, return_exceptions=True)


BODIES = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=20), max_size=3)
SOUND = st.tuples(st.just("sound"), st.integers(0, 2**32 - 1), BODIES)
JUNK = st.tuples(
    st.just("junk"),
    st.binary(max_size=200)
    | st.sampled_from(
        [
            b"[" * 50_000,
            b"null",
            b'{"verb": 1}',
            b'{"verb": "eval", "body": {}}',
            b'{"verb": "echo", "body": []}',
            b'{"verb": "echo", "number": ' + b"9" * 5_000 + b"}",
        ]
    ),
)


@settings(max_examples=60, deadline=None)
@given(messages=st.lists(SOUND | JUNK, max_size=12), tail=st.binary(max_size=3))
def test_valid_requests_are_answered_among_malformed_ones(messages: list[Any], tail: bytes) -> None:
    async def run() -> None:
        async with Served() as served:
            reader, writer = await served.door.enter()
            for message in messages:
                if message[0] == "sound":
                    writer.write(frame({"verb": "echo", "number": message[1], "body": message[2]}))
                else:
                    writer.write(HEAD.pack(len(message[1])) + message[1])
            writer.write(tail)
            writer.write_eof()
            for message in messages:
                found = await answer(reader)
                if message[0] == "sound":
                    assert found == {"number": message[1], "answer": message[2]}
                else:
                    assert found["cause"] == Cause.GRADER_CRASH and found["failed"]
            assert await ended(reader)
            writer.close()
            assert len(served.broker.records) == sum(m[0] == "junk" for m in messages)

    asyncio.run(run())


async def test_too_large_request_ends_only_its_connection() -> None:
    async with Served() as served:
        reader, writer = await served.door.enter()
        writer.write(HEAD.pack(REQUEST_LIMIT + 1) + b"x" * 1000)
        assert "16,777,217 bytes" in (await answer(reader))["failed"]
        assert await ended(reader)
        writer.close()
        other, others = await served.door.enter()
        others.write(frame({"verb": "echo", "body": {"a": 1}}))
        assert (await answer(other))["answer"] == {"a": 1}
        others.close()


async def test_requests_are_limited_in_number() -> None:
    async with Served() as served:
        reader, writer = await served.door.enter()
        for number in range(REQUESTS + 1):
            writer.write(frame({"verb": "echo", "number": number}))
        for number in range(REQUESTS):
            assert (await answer(reader)) == {"number": number, "answer": {}}
        assert f"more than {REQUESTS}" in (await answer(reader))["failed"]
        assert await ended(reader)
        writer.close()


async def test_silent_connections_block_nobody() -> None:
    async with Served() as served:
        silent = [await served.door.enter() for _ in range(8)]
        for _, writer in silent[:7]:
            writer.write(b"\0\0")
        reader, writer = silent[7]
        writer.write(frame({"verb": "echo", "body": {}}))
        for _, one in silent[:7]:
            one.close()
        assert (await answer(reader))["answer"] == {}
        writer.close()


async def test_unavailable_box_is_reported_and_not_malformed() -> None:
    async with Served() as served:
        reader, writer = await served.door.enter()
        writer.write(frame({"verb": "boxless", "number": 7, "body": {}}))
        assert await answer(reader) == {"number": 7, "failed": "no box can be had", "cause": "grader.sandbox"}
        assert served.broker.records == []
        writer.close()


async def test_failed_judge_is_reported_with_its_cause() -> None:
    async with Served() as served:
        reader, writer = await served.door.enter()
        for body, cause in (({"a": 1}, "judge.lacks"), ({}, "judge.error")):
            writer.write(frame({"verb": "unjudged", "number": 3, "body": body}))
            assert await answer(reader) == {"number": 3, "failed": "no judge answers", "cause": cause}
        assert served.broker.records == []
        writer.close()


async def test_waiting_time_is_counted_once() -> None:
    async with Served() as served:
        lines = [await served.door.enter() for _ in range(3)]
        told: list[bool] = []
        served.broker.pausing = told.append
        for _, writer in lines:
            writer.write(frame({"verb": "slow", "body": {}}))
        for reader, writer in lines:
            await answer(reader)
            writer.close()
        assert told == [True, False]


def test_grader_without_a_platform_gets_an_error(tmp_path: Any) -> None:
    from worksample.kit.broker_client import BrokerClient as Asking

    with pytest.raises(GraderError, match="the broker does not answer") as caught:
        Asking(tmp_path / "none.sock").ask("echo", {}, patience=1.0)
    assert caught.value.cause is Cause.GRADER_SANDBOX
