"""The five requests of an evaluator at work, without the framework's way to a route: that costs more than the work.

Claim, look, keep, save, hand in. `routes.work` declares them for the schema and answers whatever looks unusual here:
a body that is none of theirs, an id that cannot be one. Both do the same by `working`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worksample.app.wire.hands import Hands
from worksample.app.wire.packing import LARGE, LEVEL, takes_gzip
from worksample.app.wire.threads import DISK_THREADS
from worksample.errors import WorksampleError

from . import working
from .schemas.work import Claim, SaveDraft, Submit
from .services import Services
from .signed import find_session, tokens_of
from .wire import problems

_CLAIMS = "/api/v1/claims"
_ITEMS = "/api/v1/items/"
_LONGEST_ID = 100
_Answer = tuple[bytes, list[tuple[bytes, bytes]]]
"""A body, and the headers that it has; without a body none."""
_Work = tuple[Callable[..., bytes | None], type[BaseModel] | None]
WORKS: dict[tuple[str, str], _Work] = {
    ("GET", ""): (working.item, None),
    ("POST", "heartbeat"): (working.heartbeat, None),
    ("PUT", "draft"): (working.save_draft, SaveDraft),
    ("POST", "submit"): (working.submit, Submit),
}


class Quick:
    """`app`: the API, which gets all else."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services
        # One transaction for all that wait: beginning and ending one costs as much as most of what is done in it.
        self._quick: Hands[_Answer] = Hands(1, "quick", services.store.database.shared)
        self._disk: Hands[_Answer] = Hands(DISK_THREADS, "submit")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _find(scope) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        (work, schema), id = found
        # `Bodies` has read it whole.
        sent: Message = {} if scope["method"] == "GET" else await receive()
        try:
            body = [] if schema is None else [schema.model_validate(json.loads(sent["body"]))]
        except (ValueError, RecursionError):
            await self._app(scope, _again(sent, receive), send)
            return
        request = Request(scope)
        try:
            hands = self._disk if work is working.submit else self._quick
            answer, headers = await hands.do(partial(_enter, self._services, request, work, id, body))
        except WorksampleError as e:
            await (await problems.ours(request, e))(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200 if headers else 204, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


def _find(scope: Scope) -> tuple[_Work, list[str]] | None:
    """What is asked for, and of which item."""
    method, path = scope["method"], scope["path"]
    if path == _CLAIMS and method == "POST":
        return (working.claim, Claim), []
    if not path.startswith(_ITEMS):
        return None
    id, _, verb = path.removeprefix(_ITEMS).partition("/")
    work = WORKS.get((method, verb))
    usual = id.isalnum() and id.isascii() and len(id) <= _LONGEST_ID and not path.endswith("/")
    return (work, [id]) if work is not None and usual else None


def _enter(services: Services, request: Request, work: Any, id: list[str], body: list[BaseModel]) -> _Answer:
    session, account = find_session(services, tokens_of(request.scope, services.config))
    request.state.account = account
    done: bytes | None = work(services, account, session, *id, *body)
    if done is None:
        return b"", []
    headers = [(b"content-type", b"application/json")]
    if len(done) >= LARGE and takes_gzip(request.headers.get("accept-encoding", "")):
        done = gzip.compress(done, LEVEL)
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
    return done, [*headers, (b"content-length", str(len(done)).encode())]


def _again(sent: Message, receive: Receive) -> Receive:
    """The same body once more."""
    waiting = [sent]

    async def next() -> Message:
        return waiting.pop() if waiting else await receive()

    return next
