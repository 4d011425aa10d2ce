"""The chat as the platform hears it and speaks in it, as the operator, past the front door and its log of requests."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from worksample.box import Box
from worksample.errors import Cause, ForeignInputError, SandboxError
from worksample.files.untrusted import parse_json

PORT = 5280
"""Of the chat itself, within its box."""
SECONDS = 30.0
LIMIT = 16 << 20


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """Something said: `to` a person, or in a `room`. `by` is the account, whatever name it gave itself."""

    by: str
    text: str
    to: str = ""
    room: str = ""


class ChatClient(Protocol):
    """A chat that colleagues hear and speak in. SandboxError where it does not answer."""

    async def position(self) -> int:
        """Where what is heard goes on from."""
        ...

    async def messages_since(self, after: int) -> tuple[list[ChatMessage], int]:
        """What was said since, oldest first, and where it goes on."""
        ...

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        """Speak for somebody: in a room, or to a person."""
        ...


@dataclass(frozen=True, slots=True)
class WorkplaceChat:
    """The chat of a workplace that stands in `box`."""

    box: Box
    operator: str
    """The operator's password."""

    async def position(self) -> int:
        """Where what is heard goes on from."""
        return int((await self._ask("GET", "/api/heard?after=-1"))["next"])

    async def messages_since(self, after: int) -> tuple[list[ChatMessage], int]:
        """What was said since, oldest first, and where it goes on."""
        found = await self._ask("GET", f"/api/heard?after={after}")
        heard = [
            ChatMessage(str(one["by"]), str(one["text"]), str(one.get("to") or ""), str(one.get("room") or ""))
            for one in found["heard"]
        ]
        return heard, int(found["next"])

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        """Speak for somebody: in a room, or to a person."""
        place = f"/api/rooms/{room}" if room else f"/api/direct/{to}"
        await self._ask("POST", f"{place}?as={who}", {"text": text})

    async def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        data = b"" if body is None else json.dumps(body).encode()
        word = base64.b64encode(f"operator:{self.operator}".encode()).decode()
        said = await http_request(self.box, PORT, method, path, {"Authorization": f"Basic {word}"}, data)
        try:
            found = await parse_json(said, what="the chat's answer")
        except ForeignInputError:
            found = None
        if not isinstance(found, dict):
            raise SandboxError("the chat's answer is no table", where="colleagues", cause=Cause.SERVICE_LOST)
        return found


async def http_request(
    box: Box, port: int, method: str, path: str, head: Mapping[str, str], data: bytes = b""
) -> bytes:
    """Ask a service in `box` and read its answer. SandboxError where it gives none, or another than success."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _exchange(box, port, f"{method} {path}", head, data)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        what = f"a service does not answer {method} {path}: {error or type(error).__name__}"
        raise SandboxError(what[:500], where="colleagues", cause=Cause.SERVICE_LOST) from error


async def _exchange(box: Box, port: int, line: str, head: Mapping[str, str], data: bytes) -> bytes:
    heads = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    reader, writer = await asyncio.open_connection(sock=await box.dial(port))
    try:
        top = f"{line} HTTP/1.0\r\nHost: workplace\r\n{heads}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
        writer.write(top.encode() + data)
        said = b"".join([piece async for piece in _read_pieces(reader)])
    finally:
        writer.close()
    status, _, rest = said.partition(b"\r\n")
    if not status.split()[1:2] or not status.split()[1].startswith(b"2"):
        raise ValueError(status.decode("latin-1")[:200])
    return rest.partition(b"\r\n\r\n")[2]


async def _read_pieces(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """What comes until the end of the line."""
    left = LIMIT
    while left > 0 and (piece := await reader.read(min(left, 1 << 16))):
        left -= len(piece)
        yield piece
