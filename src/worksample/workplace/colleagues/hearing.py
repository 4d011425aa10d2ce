"""The chat as the platform hears it and speaks in it, as the operator, past the front door and its log of requests."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from worksample.box import Box
from worksample.errors import Cause, SandboxError

PORT = 5280
"""Of the chat itself, within its box."""
SECONDS = 30.0
LIMIT = 16 << 20


@dataclass(frozen=True, slots=True)
class Message:
    """Something said: `to` a person, or in a `room`. `by` is the account, whatever name it gave itself."""

    by: str
    text: str
    to: str = ""
    room: str = ""


class Hears(Protocol):
    """A chat that colleagues hear and speak in. SandboxError where it does not answer."""

    async def now(self) -> int:
        """Where what is heard goes on from."""
        ...

    async def heard(self, after: int) -> tuple[list[Message], int]:
        """What was said since, oldest first, and where it goes on."""
        ...

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        """Speak for somebody: in a room, or to a person."""
        ...


@dataclass(frozen=True, slots=True)
class Chat:
    """The chat of a workplace that stands in `box`."""

    box: Box
    operator: str
    """The operator's password."""

    async def now(self) -> int:
        """Where what is heard goes on from."""
        return int((await self._ask("GET", "/api/heard?after=-1"))["next"])

    async def heard(self, after: int) -> tuple[list[Message], int]:
        """What was said since, oldest first, and where it goes on."""
        found = await self._ask("GET", f"/api/heard?after={after}")
        heard = [
            Message(str(one["by"]), str(one["text"]), str(one.get("to") or ""), str(one.get("room") or ""))
            for one in found["heard"]
        ]
        return heard, int(found["next"])

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        """Speak for somebody: in a room, or to a person."""
        place = f"/api/rooms/{room}" if room else f"/api/direct/{to}"
        await self._ask("POST", f"{place}?as={who}", {"text": text})

    async def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(self._asked(method, path, body), SECONDS)
        except (OSError, TimeoutError, ValueError, KeyError, asyncio.IncompleteReadError) as error:
            what = f"the chat does not answer: {error or type(error).__name__}"
            raise SandboxError(what, where="colleagues", cause=Cause.SERVICE_LOST) from error

    async def _asked(self, method: str, path: str, body: Any) -> dict[str, Any]:
        data = b"" if body is None else json.dumps(body).encode()
        word = base64.b64encode(f"operator:{self.operator}".encode()).decode()
        head = f"{method} {path} HTTP/1.0\r\nHost: workplace\r\nAuthorization: Basic {word}\r\n"
        reader, writer = await asyncio.open_connection(sock=await self.box.dial(PORT))
        try:
            writer.write(f"{head}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
            said = b"".join([piece async for piece in _all(reader)])
        finally:
            writer.close()
        status, _, rest = said.partition(b"\r\n")
        if status.split()[1:2] not in ([b"200"], [b"201"]):
            raise ValueError(status.decode("latin-1")[:200])
        found = json.loads(rest.partition(b"\r\n\r\n")[2])
        if not isinstance(found, dict):
            raise ValueError("its answer is no table")
        return found


async def _all(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """What comes until the end of the line."""
    left = LIMIT
    while left > 0 and (piece := await reader.read(min(left, 1 << 16))):
        left -= len(piece)
        yield piece
