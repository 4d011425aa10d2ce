"""Error responses of the API: a table from error classes to status codes, and one JSON shape for all."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Send

from worksample.app.server.authentication import SignedOut
from worksample.app.server.json_models import Failed
from worksample.errors import (
    CaptureError,
    ImportFailed,
    JudgeError,
    PlanError,
    RecordConflict,
    RecordMissing,
    SandboxError,
    StoreError,
    UsageError,
    WorksampleError,
)
from worksample.people import Conflict, Denied, FaultyRows, InvalidAnswer, NotReady, NotYours, Role
from worksample.results.assignments.assignment import AssignmentConflict

from .rate_limit import TooMany

log = logging.getLogger("worksample.app")
# The first matching class counts.
_STATUS: tuple[tuple[type[WorksampleError], int], ...] = (
    (SignedOut, 401),
    (TooMany, 429),
    (Denied, 403),
    (NotYours, 404),
    (RecordMissing, 404),
    (Conflict, 409),
    (RecordConflict, 409),
    (AssignmentConflict, 409),
    (SandboxError, 503),
    (CaptureError, 503),
    (NotReady, 425),
    (InvalidAnswer, 422),
    (ImportFailed, 422),
    (UsageError, 400),
    (PlanError, 400),
    (StoreError, 503),
    (JudgeError, 502),
)
_MEANS = {
    400: "The request is wrong.",
    401: "Not signed in.",
    403: "Not allowed.",
    404: "Not found, or not yours.",
    408: "The body came too slowly.",
    409: "Somebody else was faster.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The answer is incomplete; `faults` says where.",
    425: "Read the training page or pass the quiz first.",
    429: "Too many requests; Retry-After says when to try again.",
    502: "The model gave no valid answer.",
    503: "The store or a box cannot be used now.",
}


_MASKED = {404: "something is missing", 502: "the model gave no valid answer; try again, or tell an admin"}
"""Texts for people other than admins, in place of errors that reveal ids or paths."""


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses=` of a route that may answer with these statuses."""
    return {status: {"model": Failed, "description": _MEANS[status]} for status in statuses}


def error_body(
    kind: str, what: str, *, next: str = "", where: str = "", faults: Mapping[str, str] = {}
) -> dict[str, Any]:
    """Build the JSON body of an error."""
    return {"error": {"kind": kind, "what": what, "next": next, "where": where, "faults": dict(faults)}}


def status_of(error: WorksampleError) -> int:
    """Return the HTTP status of an error; 500 for one that no request should cause."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


async def refuse(send: Send, status: int, kind: str, what: str, *, retry_after: int | None = None) -> None:
    """Send an error from a middleware and close the connection; the rest of the request's body is not read."""
    body = json.dumps(error_body(kind, what)).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def install_error_handlers(app: FastAPI) -> None:
    """Register handlers that turn every error of a route into this JSON shape."""
    app.add_exception_handler(WorksampleError, package_error_response)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, unexpected_error_response)


async def package_error_response(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of this package."""
    assert isinstance(error, WorksampleError)
    status = status_of(error)
    what, where, next = error.what, error.where, error.next
    account = getattr(request.state, "account", None)
    if isinstance(error, RecordMissing | RecordConflict) or status >= 500:
        # These errors reveal ids, paths or a service's response; only admins may read them.
        log.warning("%s %s: %s", request.method, request.url.path, error)
        if account is None or Role.ADMIN not in account.roles:
            what, where, next = _MASKED.get(status, "the store cannot be used now"), "", ""
    faults = error.faults if isinstance(error, InvalidAnswer | FaultyRows) else {}
    body = error_body(type(error).__name__, what, next=next, where=where, faults=faults)
    headers = {"retry-after": str(error.seconds)} if isinstance(error, TooMany) else None
    return JSONResponse(body, status, headers=headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # The response repeats nothing of the request.
    faults = {".".join(str(part) for part in e["loc"][1:]) or str(e["loc"][0]): str(e["msg"]) for e in error.errors()}
    faults = {name.encode("utf-8", "replace").decode()[:200]: text for name, text in faults.items()}
    return JSONResponse(error_body("UsageError", "the request is wrong", faults=faults), 400)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    kind = {404: "NotFound", 405: "NotAllowed"}.get(error.status_code, "UsageError")
    return JSONResponse(error_body(kind, str(error.detail)), error.status_code, headers=dict(error.headers or {}))


async def unexpected_error_response(request: Request, error: Exception) -> JSONResponse:
    """Answer an unexpected exception."""
    # The server's log has the traceback.
    return JSONResponse(error_body("Bug", "the server failed to answer this request; its log says why"), 500)
