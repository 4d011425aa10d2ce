"""An HTTP response that streams a blob, whole or in part, piece by piece from the disk."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PIECE = 1 << 18
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
KEPT = "private, max-age=86400, immutable"


@dataclass(frozen=True)
class Unsatisfiable(Exception):
    """The requested range lies beyond the end of the file."""

    size: int


def wanted_range(said: str | None, size: int) -> tuple[int, int] | None:
    """Return the first byte and the end of the requested range; None for the whole file (RFC 9110, 14.1.2).

    A header with several ranges or an invalid one gets the whole file, as the RFC allows. Raises Unsatisfiable.
    """
    match = _RANGE.fullmatch(said.strip()) if said else None
    if match is None or match.group() == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        length = int(last)
        if length == 0 or size == 0:
            raise Unsatisfiable(size)
        return max(0, size - length), size
    start = int(first)
    end = int(last) + 1 if last else size
    if last and end <= start:
        return None
    if start >= size:
        raise Unsatisfiable(size)
    return start, min(end, size)


def same_tag(said: str | None, tag: str) -> bool:
    """Tell whether an If-None-Match header names this tag, by weak comparison as in RFC 9110."""
    if said is None:
        return False
    return said.strip() == "*" or tag in (part.strip().removeprefix("W/") for part in said.split(","))


def attachment(name: str) -> str:
    """Return a Content-Disposition header for any file name (RFC 6266), safe with quotes, line ends and any script."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\%/;' else "_" for c in name)
    coded = quote(name.encode("utf-8", "replace").replace(b"/", b"_"), safe="")
    return f"attachment; filename=\"{plain or 'file'}\"; filename*=UTF-8''{coded}"


@dataclass
class BlobResponse(Response):
    """A response with a blob's content. `asked`: the request's headers; `ranges`: whether it serves byte ranges."""

    path: Path
    kind: str
    tag: str
    asked: Mapping[str, str]
    more: Mapping[str, str] = field(default_factory=dict)
    ranges: bool = True

    def __post_init__(self) -> None:
        super().__init__(None)
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = (await asyncio.to_thread(self.path.stat)).st_size
        headers = {"etag": self.tag, "cache-control": KEPT, **self.more}
        if self.ranges:
            headers["accept-ranges"] = "bytes"
        if same_tag(self.asked.get("if-none-match"), self.tag):
            await _start(send, 304, headers)
            await send({"type": "http.response.body", "body": b""})
            return
        status, part = 200, None
        if self.ranges and self.asked.get("if-range", self.tag).strip() == self.tag:
            try:
                part = wanted_range(self.asked.get("range"), size)
            except Unsatisfiable:
                await _start(send, 416, {**headers, "content-range": f"bytes */{size}", "content-length": "0"})
                await send({"type": "http.response.body", "body": b""})
                return
        start, end = part or (0, size)
        if part is not None:
            status, headers["content-range"] = 206, f"bytes {start}-{end - 1}/{size}"
        await _start(send, status, {**headers, "content-type": self.kind, "content-length": str(end - start)})
        if scope["method"] == "HEAD" or end == start:
            await send({"type": "http.response.body", "body": b""})
            return
        await self._send_blob(start, end, receive, send)

    async def _send_blob(self, start: int, end: int, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_wait_for_disconnect(receive))
        fd = await asyncio.to_thread(os.open, self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while start < end and not gone.done():
                data = await asyncio.to_thread(os.pread, fd, min(PIECE, end - start), start)
                if not data:
                    # The file became shorter: break the connection, so that the browser notices.
                    raise OSError(f"the file {self.path.name} became shorter while it was being sent")
                start += len(data)
                await send({"type": "http.response.body", "body": data, "more_body": start < end})
        finally:
            os.close(fd)
            gone.cancel()


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected, so that the server stops reading the file."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _start(send: Send, status: int, headers: Mapping[str, str]) -> None:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
