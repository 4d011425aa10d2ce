"""Limits on a request: length of its address, size and duration of its body, writes per session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worksample.app.config import AppConfig
from worksample.app.server.authentication import tokens_of

from .cross_site_guard import READS
from .error_responses import refuse
from .rate_limit import RateLimit

LONGEST_URL = 8192
IMPORTS = "/api/v1/imports"
IMPORT_TIMES = 6
"""Imports get this many times the usual time."""
Known = Callable[[tuple[str, ...]], bool]


class TooLarge(Exception):
    """The body exceeds its limit."""


class RequestLimits:
    """Middleware that reads a whole body within its limits before the API sees the request.

    `known`: tells whether tokens open a session; only then may a body have an import's size.
    """

    def __init__(self, app: ASGIApp, config: AppConfig, known: Known) -> None:
        self._app, self._config, self._known = app, config, known
        self._writes = RateLimit(config.writes_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > LONGEST_URL:
            await refuse(send, 414, "UsageError", "the address is too long")
            return
        if scope["method"] in READS:
            await self._app(scope, receive, send)
            return
        tokens = tokens_of(scope, self._config)
        if tokens and (wait := self._writes.take(tokens[0])):
            await refuse(
                send, 429, "TooMany", "too many changes in a short time; wait, then try again", retry_after=wait
            )
            return
        most, seconds = self._config.request_bytes, self._config.body_seconds
        if scope["path"] == IMPORTS and await run_in_threadpool(self._known, tokens):
            most, seconds = self._config.import_bytes, seconds * IMPORT_TIMES
        try:
            body = await _read_body(scope, receive, most, seconds)
        except TooLarge:
            await refuse(send, 413, "UsageError", f"the request body has more than {most} bytes")
        except TimeoutError:
            await refuse(send, 408, "UsageError", f"the request body did not arrive within {seconds:g} seconds")
        else:
            if body is not None:
                await self._app(scope, _replay_body(body, receive), send)


async def _read_body(scope: Scope, receive: Receive, most: int, seconds: float) -> bytes | None:
    """Read the whole body; None if the client disconnected. Raises TooLarge, TimeoutError."""
    said = next((value for name, value in scope["headers"] if name == b"content-length"), None)
    if said is not None and (not said.isdigit() or int(said) > most):
        raise TooLarge
    parts, size = [], 0
    async with asyncio.timeout(seconds):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > most:
                raise TooLarge
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


def _replay_body(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
