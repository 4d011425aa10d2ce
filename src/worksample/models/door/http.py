"""HTTP/1.1 as far as clients of models need it, from programs that may send anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httptools

LARGEST = 32 << 20
"""Bytes of one request's body, as providers have it."""
MOST_HEAD = 1 << 16
"""Bytes of a request's line and headers."""
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class BadRequest(Exception):
    """What came cannot be read on: the connection is of no more use. `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass
class Request:
    """One request, whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    keep: bool
    """Whether the connection may serve another one."""


@dataclass
class _Parsing:
    """What httptools calls."""

    allowed: int
    ready: list[Request] = field(default_factory=list)
    expecting: bool = False
    heads: int = 0
    failure: BadRequest | None = None
    parser: Any = None
    _url: bytes = b""
    _headers: dict[str, str] = field(default_factory=dict)
    _body: bytearray = field(default_factory=bytearray)

    def on_message_begin(self) -> None:
        self._url, self._headers, self._body, self.heads = b"", {}, bytearray(), 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        length = self._headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length[:20]) > self.allowed:
            self.failure = BadRequest(413, f"the body has {length[:20]} bytes; at most {self.allowed} are taken")
        self.expecting = self._headers.get("expect", "").lower() == "100-continue"

    def on_body(self, data: bytes) -> None:
        if len(self._body) + len(data) > self.allowed:
            self.failure = BadRequest(413, f"the body has more than {self.allowed} bytes")
        if self.failure is None:
            self._body += data

    def on_message_complete(self) -> None:
        keep, method = self.parser.should_keep_alive(), self.parser.get_method().decode("latin-1")
        url = self._url.decode("latin-1")
        self.ready.append(Request(method, url, self._headers, bytes(self._body), keep))
        self.expecting = False


async def requests(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, largest: int = LARGEST
) -> AsyncIterator[Request]:
    """The requests of a connection, one after the other; the next is read once the last was answered. BadRequest."""
    state = _Parsing(largest)
    state.parser = httptools.HttpRequestParser(state)
    while True:
        data = await reader.read(1 << 16)
        if not data:
            return
        state.heads += len(data) if not state._headers else 0
        try:
            state.parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise state.failure or BadRequest(400, f"no request of HTTP: {error}") from None
        if state.failure is None and state.heads > MOST_HEAD and not state._headers:
            state.failure = BadRequest(431, "the request's head is too long")
        if state.failure is not None:
            raise state.failure
        if state.expecting:
            state.expecting = False
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while state.ready:
            request = state.ready.pop(0)
            yield request
            if not request.keep:
                return


def response(status: int, body: bytes, kind: str, *, keep: bool) -> bytes:
    """An answer, whole."""
    phrase = _PHRASES.get(status, "Answer")
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n"
    )
    if kind == "text/event-stream":
        head += "Cache-Control: no-cache\r\n"
    return head.encode() + b"\r\n" + body


def as_json(value: Any) -> bytes:
    """JSON of an answer."""
    return json.dumps(value, separators=(",", ":")).encode()
