"""The platform's access to the chat of a workplace. The platform uses the operator's account and bypasses the front
door, so its requests are not in the request log.
"""

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
"""Port of the chat inside the services' box."""
SECONDS = 30.0
LIMIT = 16 << 20


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A chat message that was sent `to` a person or in a `room`. `by` is the account that sent it, whatever display
    name the message shows.
    """

    by: str
    text: str
    to: str = ""
    room: str = ""


class ChatClient(Protocol):
    """A chat that colleagues read and write. Its methods raise SandboxError if the chat does not answer."""

    async def position(self) -> int:
        """Return the position in the chat after its newest message."""
        ...

    async def messages_since(self, after: int) -> tuple[list[ChatMessage], int]:
        """Return the messages after the position `after`, oldest first, and the position for the next call."""
        ...

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        """Send a message from the account `who`, either in a room or to a person."""
        ...


@dataclass(frozen=True, slots=True)
class WorkplaceChat:
    """The chat of a workplace whose services run in `box`."""

    box: Box
    operator: str
    """Password of the operator's account."""

    async def position(self) -> int:
        """Return the position in the chat after its newest message."""
        return int((await self._ask("GET", "/api/heard?after=-1"))["next"])

    async def messages_since(self, after: int) -> tuple[list[ChatMessage], int]:
        """Return the messages after the position `after`, oldest first, and the position for the next call."""
        found = await self._ask("GET", f"/api/heard?after={after}")
        heard = [
            ChatMessage(str(one["by"]), str(one["text"]), str(one.get("to") or ""), str(one.get("room") or ""))
            for one in found["heard"]
        ]
        return heard, int(found["next"])

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        """Send a message from the account `who`, either in a room or to a person."""
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
            raise SandboxError(
                "the chat's answer is not a JSON object",
                where="colleagues",
                next="worksample doctor",
                cause=Cause.SERVICE_LOST,
            )
        return found


async def http_request(
    box: Box, port: int, method: str, path: str, head: Mapping[str, str], data: bytes = b""
) -> bytes:
    """Send an HTTP request to a service in `box` and return the body of the answer. Raises SandboxError if no answer
    comes or the service refuses the request.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await _exchange(box, port, f"{method} {path}", head, data)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        what = f"a service does not answer {method} {path}: {error or type(error).__name__}"
        raise SandboxError(
            what[:500], where="colleagues", next="worksample doctor", cause=Cause.SERVICE_LOST
        ) from error


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
    """Yield an HTTP answer in pieces until its end, at most LIMIT bytes."""
    left = LIMIT
    while left > 0 and (piece := await reader.read(min(left, 1 << 16))):
        left -= len(piece)
        yield piece
