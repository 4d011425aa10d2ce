"""The broker of a program of a task: a grader, or the program that prepares a box. It runs on the host and answers the
program's requests, which arrive through a socket in the program's box.

This box has no other connection. Its requests are untrusted input: their size and number are limited. A
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

if TYPE_CHECKING:
    from collections.abc import Iterator

SOCKET = "/task/scratch/broker.sock"
REQUESTS = 500
"""Maximum number of requests in one run. Malformed requests are counted, too."""
CONNECTIONS = 4
"""Maximum number of connections that the broker serves at the same time. Further connections wait."""


class MalformedRequest(Exception):
    """A request that the broker cannot answer. The message says why."""


Verb = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""A function that answers the body of a request. Raises MalformedRequest if the body is malformed; SandboxError if no
box can be started; JudgeError if a judge fails.
"""


@dataclass
class RequestBroker:
    """The broker of one run of a program. `verbs` are the functions that answer requests, by name."""

    verbs: Mapping[str, Verb]
    records: list[dict[str, Any]] = field(default_factory=list)
    """Records of the requests: one for each malformed request, and those that the verbs add."""
    pausing: Callable[[bool], None] = lambda paused: None
    """Function that is called with True when the grader begins to wait for an answer, and with False when the answer is
    ready. The waiting time does not count towards the grader's time limit.
    """
    _answering: int = 0
    _taken: int = 0

    async def serve(self, listener: Listener) -> None:
        """Answer requests until the task is cancelled or the box is closed."""
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
        """Answer the requests of one connection until it is closed or a request is too large."""
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
    """Return number, verb and body of a request. Raises MalformedRequest if the request does not have these three
    fields in the right types.
    """
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
    """Read `count` bytes from a connection. Raises ConnectionError if the connection is closed before."""
    found = bytearray()
    while len(found) < count:
        piece = await connection.reader.read(min(count - len(found), 1 << 18))
        if not piece:
            raise ConnectionError("the grader closed the connection in the middle of a request")
        found += piece
    return bytes(found)
