"""A minimal HTTP/1.1 server for untrusted clients, used for models and tools.

The library httptools parses the requests. `HttpLimits` contains all limits; the limits of stored bytes apply to all
connections of one server together. Every connection is answered or closed. Only ConnectionError is raised.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httptools

_log = logging.getLogger(__name__)
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_PIECE = 1 << 16
"""Number of bytes that are read and parsed at once."""

PIECE = 1 << 20
"""Size in bytes of the pieces in which a request's body is stored."""
LOGGED = 3
"""Maximum number of internal errors that one server logs. A program that triggers an error may trigger it many
times.
"""


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits for the connections of one server. Seconds are measured by the clock of the event loop."""

    head_bytes: int = 1 << 16
    """Maximum number of bytes of a request's first line and headers together. The framing of a chunked body may need
    the same number in addition.
    """
    headers: int = 100
    body_bytes: int = 32 << 20
    """Maximum number of bytes of a request's body. Providers have the same limit."""
    held_bytes: int = 64 << 20
    """Maximum number of bytes of all stored bodies and answers: bodies of unanswered requests, and answers that are not
    sent yet.
    """
    head_seconds: float = 30.0
    """Maximum seconds from a request's first byte to the end of its headers."""
    pause_seconds: float = 60.0
    """Maximum seconds between two pieces of a body."""
    body_seconds: float = 600.0
    """Maximum seconds from the end of the headers to the end of the body."""
    idle_seconds: float = 600.0
    """Maximum seconds that a connection may be idle between two requests."""
    answer_seconds: float = 120.0
    """Maximum seconds in which a client must receive an answer completely."""
    linger_seconds: float = 2.0
    """Seconds for which the server continues to read from a client whose request it refused. Without this, the client
    might not receive the reason.
    """


LARGEST = HttpLimits().body_bytes


class BadRequest(Exception):
    """Error for input that cannot be parsed further. The connection is closed. `status` is the HTTP status of the
    answer.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Body:
    """The body of a request, stored in pieces. A single buffer would grow up to 32 MiB and would be copied while it
    grows, which would block the event loop.
    """

    def __init__(self) -> None:
        self.pieces: list[bytearray] = []
        self._size = 0

    def add(self, data: bytes) -> None:
        """Append data to the body."""
        if not self.pieces or len(self.pieces[-1]) >= PIECE:
            self.pieces.append(bytearray())
        self.pieces[-1] += data
        self._size += len(data)

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return b"".join(self.pieces)


@dataclass
class HttpRequest:
    """A completely received request."""

    method: str
    path: str
    headers: dict[str, str]
    """Headers by name in lower case. The values of a header that occurs several times are joined by commas."""
    body: Body
    keep: bool
    """True if the connection stays open for another request."""


@dataclass(frozen=True)
class HttpResponse:
    """The status, headers and body of an answer to a request."""

    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


Answering = Callable[[HttpRequest], Awaitable[HttpResponse]]
Fault = Callable[[int, str, str], bytes]
"""Function that builds the body of an error response from the HTTP status, the message, and the part of the path that
was received.
"""


class HttpServer:
    """A server for any number of connections. All connections share the limit of stored bytes."""

    def __init__(self, answer: Answering, fault: Fault, limits: HttpLimits = HttpLimits()) -> None:
        self.limits = limits
        self.held = 0
        """Number of bytes of all bodies and answers that are stored at this moment."""
        self._answer, self._fault = answer, fault
        self._failures = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer all requests of one connection."""
        parsing = _Parsing(self)
        try:
            try:
                await self._requests(parsing, reader, writer)
            except BadRequest as bad:
                body = self._fault(bad.status, bad.message, parsing.path)
                parsing.release()
                await self._send(writer, HttpResponse(bad.status, body), keep=False)
                await self._linger(reader, writer)
        finally:
            parsing.release()

    async def _requests(self, parsing: _Parsing, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            data = await self._receive(parsing, reader)
            if not data:
                return
            parsing.feed(data)
            while parsing.ready:
                request = parsing.ready.popleft()
                try:
                    answer = await self._handle(request)
                finally:
                    self.held -= len(request.body)
                await self._send(writer, answer, keep=request.keep, head=request.method == "HEAD")
                if not request.keep:
                    return
            if parsing.failure is not None:
                raise parsing.failure
            if parsing.expecting:
                parsing.expecting = False
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _receive(self, parsing: _Parsing, reader: asyncio.StreamReader) -> bytes:
        """Return the next bytes from the client. Return no bytes if the client closed the connection or was idle for
        too long. Raises BadRequest if the client is too slow within a request.
        """
        try:
            async with asyncio.timeout_at(parsing.deadline()):
                return await reader.read(_PIECE)
        except TimeoutError:
            if not parsing.begun:
                return b""
            raise BadRequest(408, f"the request's {'body' if parsing.in_body else 'head'} took too long") from None

    async def _handle(self, request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS":
            return HttpResponse(204, headers=(("Allow", "GET, HEAD, OPTIONS, POST"),))
        if request.method == "CONNECT":
            body = self._fault(405, "CONNECT is not supported: this gateway opens no tunnels", request.path)
            return HttpResponse(405, body, headers=(("Allow", "GET, HEAD, OPTIONS, POST"),))
        try:
            return await self._answer(request)
        except Exception as error:  # noqa: BLE001 - the boundary of a connection: a failure of ours is answered
            self._failures += 1
            if self._failures <= LOGGED:
                _log.error("%s %s could not be answered", request.method, request.path[:200], exc_info=error)
            return HttpResponse(500, self._fault(500, "the gateway failed to answer this request", request.path))

    async def _send(
        self, writer: asyncio.StreamWriter, answer: HttpResponse, *, keep: bool, head: bool = False
    ) -> None:
        """Write an answer and wait until it is sent. Raises ConnectionError if the answer cannot be sent."""
        data = _bytes_of(answer, keep=keep, head=head)
        size = len(data)
        self.held += size
        try:
            writer.write(data)
            del data
            async with asyncio.timeout(self.limits.answer_seconds):
                await writer.drain()
        except TimeoutError:
            writer.transport.abort()
            raise ConnectionAbortedError("the client did not read its answer") from None
        finally:
            self.held -= size

    async def _linger(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read further input of the client for up to `linger_seconds`. If the server closed the connection at once, the
        client might lose the answer.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.linger_seconds):
                if writer.can_write_eof():
                    writer.write_eof()
                while await reader.read(_PIECE):
                    pass


@dataclass
class _Parsing:
    """The state of the parser of one connection: the callbacks for httptools, the complete requests, and the number of
    stored bytes.
    """

    server: HttpServer
    ready: deque[HttpRequest] = field(default_factory=deque)
    expecting: bool = False
    """True if the client waits for `100 Continue` before it sends the body."""
    begun: bool = False
    """True if a request has begun and is not yet complete."""
    in_body: bool = False
    failure: BadRequest | None = None

    def __post_init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._now = asyncio.get_running_loop().time
        self._url, self._headers = b"", dict[str, str]()
        self._body = Body()
        self._method, self._offered = "", False
        self._head, self._fields, self._around = 0, 0, 0
        self._since = self._moved = self._now()

    @property
    def path(self) -> str:
        """The path of the request that is being read."""
        return self._url.decode("latin-1")

    def deadline(self) -> float:
        """The time, by the event loop's clock, at which the next input must have arrived."""
        limits = self.server.limits
        if not self.begun:
            return self._since + limits.idle_seconds
        if not self.in_body:
            return self._since + limits.head_seconds
        return min(self._since + limits.body_seconds, self._moved + limits.pause_seconds)

    def feed(self, data: bytes) -> None:
        """Parse received data."""
        self._around += len(data)
        self._moved = self._now()
        self._parse(data)
        # Also limit input that httptools buffers without reporting it: headers, and the framing of chunks.
        if self.begun and self._around > self.server.limits.head_bytes + _PIECE + 8 * len(self._body):
            self._fail(431, "the request's head is too long" if not self.in_body else "the body's chunks are too small")

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if not self._offered:  # a tunnel: refuse it and read nothing further
                self._refuse_rest()
                return
            # The client offers to switch to another protocol; answer in HTTP. httptools would treat the body as the
            # other protocol's, so parse the request again without the offer.
            self._parser, self._offered = httptools.HttpRequestParser(self), False
            kept = [f"{k}: {v}" for k, v in self._headers.items() if k not in ("upgrade", "connection")]
            head = "\r\n".join([f"{self._method} {self.path} HTTP/1.1", *kept, "Connection: close", "", ""])
            self._parse(head.encode("latin-1") + data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            self._fail(400, f"not an HTTP request: {error}")

    def _refuse_rest(self) -> None:
        if self.ready:
            self.ready[-1].keep = False
        else:
            self._fail(400, "not an HTTP/1.1 request")

    def release(self) -> None:
        """Subtract the bytes stored for this connection from the server's total."""
        self.server.held -= len(self._body) + sum(len(request.body) for request in self.ready)
        self._body = Body()
        self.ready.clear()

    def on_message_begin(self) -> None:
        self._url, self._headers = b"", {}
        self._head = self._fields = self._around = 0
        self.begun, self.in_body, self.expecting = True, False, False
        self._since = self._now()

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        if self.failure is None:
            self._url += url

    def on_header(self, name: bytes, value: bytes | None) -> None:
        self._count_head(len(name) + len(value or b"") + 4)
        self._fields += 1
        if self._fields > self.server.limits.headers:
            self._fail(431, f"the request has more than {self.server.limits.headers} headers")
        if self.failure is None and not self.in_body:  # headers after a chunked body are ignored
            key, said = name.decode("latin-1").lower(), (value or b"").decode("latin-1")
            self._headers[key] = f"{self._headers[key]}, {said}" if key in self._headers else said

    def on_headers_complete(self) -> None:
        self.in_body, self._around = True, 0
        self._since = self._now()
        allowed, length = self.server.limits.body_bytes, self._headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and (len(length) > 20 or int(length) > allowed):
            self._fail(413, f"the body has {length[:20]} bytes; at most {allowed} are allowed")
        self.expecting = self.failure is None and self._headers.get("expect", "").lower() == "100-continue"

    def on_body(self, data: bytes) -> None:
        limits = self.server.limits
        if len(self._body) + len(data) > limits.body_bytes:
            self._fail(413, f"the body has more than {limits.body_bytes} bytes")
        if self.server.held + len(data) > limits.held_bytes:
            self._fail(429, f"the requests in progress have more than {limits.held_bytes} bytes together")
        if self.failure is None:
            self._body.add(data)
            self.server.held += len(data)

    def on_message_complete(self) -> None:
        self._method = self._parser.get_method().decode("latin-1")
        if self._parser.should_upgrade() and self._method != "CONNECT":
            self._offered = True
            return
        self.begun = self.in_body = self.expecting = False
        self._since = self._now()
        if self.failure is not None:
            return
        keep = self._parser.should_keep_alive()
        self.ready.append(HttpRequest(self._method, self.path, self._headers, self._body, keep))
        self._body = Body()

    def _count_head(self, size: int) -> None:
        self._head += size
        if self._head > self.server.limits.head_bytes:
            self._fail(431, f"the request's head has more than {self.server.limits.head_bytes} bytes")

    def _fail(self, status: int, message: str) -> None:
        self.failure = self.failure or BadRequest(status, message)


def _bytes_of(answer: HttpResponse, *, keep: bool, head: bool = False) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, 'Answer')}"]
    if answer.status != HTTPStatus.NO_CONTENT:
        lines += [f"Content-Type: {answer.kind}", f"Content-Length: {len(answer.body)}"]
    if answer.kind == "text/event-stream":
        lines.append("Cache-Control: no-cache")
    lines += [f"{name}: {value}" for name, value in answer.headers]
    lines.append(f"Connection: {'keep-alive' if keep else 'close'}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if head else answer.body)


def as_json(value: Any) -> bytes:
    """Return a value as JSON in bytes, for the body of an answer."""
    return json.dumps(value, separators=(",", ":")).encode()
