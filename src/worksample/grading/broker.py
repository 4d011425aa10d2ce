"""Broker of a grading, on the host: answers a grader's requests over a socket of the grading box.

The grading box has no other connection, and its requests are untrusted input: their size and number are limited, and a
malformed request is answered with an error and recorded.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.box import Connection, Listener
from worksample.errors import Cause, JudgeError, SandboxError
from worksample.kit.broker_client import HEAD, REQUEST_LIMIT, frame

from .grading_boxes import SCRATCH

if TYPE_CHECKING:
    from collections.abc import Iterator

SOCKET = f"{SCRATCH}/broker.sock"
REQUESTS = 500
"""Maximum number of requests of one grading, malformed ones included."""
CONNECTIONS = 4
"""Maximum number of connections served at once; further ones wait."""


class MalformedRequest(Exception):
    """A request that cannot be answered; the text says why."""


Verb = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""A function that answers the body of a request. Raises MalformedRequest, SandboxError if no box can be started for it,
JudgeError.
"""


@dataclass
class GradingBroker:
    """The broker of one grading."""

    verbs: Mapping[str, Verb]
    records: list[dict[str, Any]] = field(default_factory=list)
    """Entries for malformed requests, and entries that the verbs add."""
    pausing: Callable[[bool], None] = lambda paused: None
    """Called with True when the grader begins to wait for an answer and with False when it goes on: this time does not
    count against the grader's limit.
    """
    _answering: int = 0
    _taken: int = 0

    async def serve(self, listener: Listener) -> None:
        """Answer requests until cancelled or until the box is gone."""
        places = asyncio.Semaphore(CONNECTIONS)
        try:
            async with asyncio.TaskGroup() as conversations:
                while True:
                    await places.acquire()
                    connection = await listener.accept()
                    conversations.create_task(self._serve_connection(connection)).add_done_callback(
                        lambda _: places.release()
                    )
        except* SandboxError:
            pass  # The box is gone; the function that runs the grader reports it.

    async def _serve_connection(self, connection: Connection) -> None:
        """Answer the requests of one connection until it ends or sends something that is not a frame."""
        try:
            while True:
                length = HEAD.unpack(await _read_exactly(connection, HEAD.size))[0]
                if length > REQUEST_LIMIT:
                    await connection.writer.write(frame(self._refuse_malformed(0, f"a request of {length:,} bytes")))
                    return
                data = await _read_exactly(connection, length)
                with self._pause_clock():
                    answer = frame(await self._answer(data))
                await connection.writer.write(answer)
                if self._taken > REQUESTS:
                    return
        except ConnectionError:
            return
        finally:
            await connection.close()

    @contextmanager
    def _pause_clock(self) -> Iterator[None]:
        self._answering += 1
        if self._answering == 1:
            self.pausing(True)
        try:
            yield
        finally:
            self._answering -= 1
            if not self._answering:
                self.pausing(False)

    async def _answer(self, data: bytes) -> dict[str, Any]:
        number = 0
        self._taken += 1
        try:
            number, verb, body = _parse_request(data)
            if self._taken > REQUESTS:
                raise MalformedRequest(f"the grader sent more than {REQUESTS} requests")
            if verb not in self.verbs:
                raise MalformedRequest(f"{verb[:100]!r} is not a verb; use one of {', '.join(self.verbs)}")
            return {"number": number, "answer": await self.verbs[verb](body)}
        except MalformedRequest as junk:
            return self._refuse_malformed(number, str(junk))
        except SandboxError as error:
            return {"number": number, "failed": error.what, "cause": Cause.GRADER_SANDBOX.value}
        except JudgeError as error:
            return {"number": number, "failed": error.what, "cause": (error.cause or Cause.JUDGE_ERROR).value}

    def _refuse_malformed(self, number: int, why: str) -> dict[str, Any]:
        self.records.append({"junk": why})
        return {"number": number, "failed": why, "cause": Cause.GRADER_CRASH.value}


def _parse_request(data: bytes) -> tuple[int, str, dict[str, Any]]:
    """Return number, verb and body of a request. Raises MalformedRequest."""
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedRequest("the request is not JSON") from None
    if not isinstance(raw, dict):
        raise MalformedRequest("the request is not an object")
    number, verb, body = raw.get("number", 0), raw.get("verb"), raw.get("body", {})
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 32:
        raise MalformedRequest("the request's number is not an integer")
    if not isinstance(verb, str) or not isinstance(body, dict):
        raise MalformedRequest("the request has no verb, or its body is not an object")
    return number, verb, body


async def _read_exactly(connection: Connection, count: int) -> bytes:
    """Read `count` bytes. Raises ConnectionError if the connection ends before."""
    found = bytearray()
    while len(found) < count:
        piece = await connection.reader.read(min(count - len(found), 1 << 18))
        if not piece:
            raise ConnectionError("the grader closed the connection in the middle of a request")
        found += piece
    return bytes(found)
