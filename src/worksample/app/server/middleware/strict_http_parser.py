"""Uvicorn's HTTP parser with additional limits. It refuses absolute addresses in the request line, which name a
host.
"""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 32_768

_CLEAR = b'clear-site-data: "cookies"\r\n'


class StrictHttpProtocol(HttpToolsProtocol):
    """An HTTP protocol that answers 400 to large headers and absolute addresses, and drops idle connections.

    `head_seconds`: see `AppConfig`; other options are uvicorn's.
    """

    def __init__(self, *, head_seconds: float, **rest: Any) -> None:
        super().__init__(**rest)
        self._seconds = head_seconds

    _late: asyncio.TimerHandle | None = None
    _size = 0
    _cookies = 0
    _host = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._size = self._cookies = 0
        self._host = b""
        self._wait()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))
        if not self.url.startswith(b"/"):
            raise httptools.HttpParserError("the request line has an absolute address; only a path is accepted")

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if name.lower() == b"cookie":
            self._cookies += len(value)
        elif name.lower() == b"host":
            self._host = value.lower()
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._cancel_deadline()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        # A deliverable's page can provoke this response on its own host by a long address, and frame it.
        # Without a policy its script could reach into the frame and send any request from there.
        text, more = msg.encode("ascii", "replace"), b""
        if self._cookies > HEAD_BYTES // 2 and b".c." not in self._host:
            # A deliverable has filled the domain's cookies; the person could not sign in again.
            text, more = b"Your browser sent too many cookies; they are removed now. Sign in again.", _CLEAR
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
            b"content-security-policy: default-src 'none'; sandbox\r\nx-content-type-options: nosniff\r\n"
            b"cache-control: no-store\r\n%bcontent-length: %d\r\n\r\n%b" % (more, len(text), text)
        )
        self.transport.close()

    def _count(self, more: int) -> None:
        self._size += more
        if self._size > HEAD_BYTES:
            raise httptools.HttpParserError("the request's headers are too large")

    def _wait(self) -> None:
        self._cancel_deadline()
        self._late = self.loop.call_later(self._seconds, self._give_up)

    def _cancel_deadline(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        transport: Any = self.transport
        if transport is not None and not transport.is_closing():
            transport.abort()
