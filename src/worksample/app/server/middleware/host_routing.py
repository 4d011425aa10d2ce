"""Routing by the Host header on one port: the app, the viewer, deliverables. Other hosts get 421."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from worksample.app.server.route_services import AppServices

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]


class HostRouter:
    """The outermost ASGI application. `lifespan`: entered when the server starts, left when it stops."""

    def __init__(
        self, services: AppServices, *, app: ASGIApp, viewer: ASGIApp, content: ASGIApp, lifespan: Lifespan
    ) -> None:
        self.services = services
        config = services.config
        self._app, self._viewer, self._content, self._lifespan = app, viewer, content, lifespan
        self._app_host = config.netloc.encode()
        self._viewer_host = f"v.{config.netloc}".encode()
        self._capability = re.compile(rf"[a-z2-7]{{32,52}}\.c\.{re.escape(config.netloc)}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._choose(scope)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _choose(self, scope: Scope) -> ASGIApp:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        # An absolute address in the request line would name a second host.
        if len(hosts) != 1 or not scope["path"].startswith("/"):
            return _refuse_host
        host = hosts[0].lower()
        if host == self._app_host:
            return self._app
        if host == self._viewer_host:
            return self._viewer
        return self._content if self._capability.fullmatch(host) else _refuse_host

    async def _live(self, receive: Receive, send: Send) -> None:
        """Handle the ASGI lifespan: the server's start and stop."""
        await receive()
        async with self._lifespan():
            await send({"type": "lifespan.startup.complete"})
            try:
                await receive()
            except asyncio.CancelledError:
                return  # second stop signal: the server expects no reply
        await send({"type": "lifespan.shutdown.complete"})


async def _refuse_host(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 421 with a hint which address to open. The response repeats nothing of the request."""
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(_ELSEWHERE)).encode()),
        (b"x-content-type-options", b"nosniff"), (b"connection", b"close"),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": 421, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope.get("method") == "HEAD" else _ELSEWHERE})


_ELSEWHERE = b"""This server does not answer at this address.
next: open the address that `worksample review` or `worksample serve` printed (docs/how-to/judge-with-people.md)
"""
