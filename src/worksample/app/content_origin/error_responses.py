"""Error responses of the content origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from worksample.errors import RecordMissing, SandboxUnavailable, StoreError, UsageError, WorksampleError


class ContentRefused(Exception):
    """An error response with this status, raised anywhere within a route."""

    def __init__(self, status: int, what: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(what)
        self.status, self.what, self.headers = status, what, dict(headers or {})


def not_found() -> ContentRefused:
    return ContentRefused(404, "there is no such file")


def refusal_response(error: ContentRefused | WorksampleError) -> Response:
    """Return the error as JSON. The response repeats nothing of the request."""
    if isinstance(error, ContentRefused):
        return _error_response(error.status, "Refused", error.what, error.headers)
    if isinstance(error, StoreError) and not isinstance(error, RecordMissing):
        # The store's path must not be revealed.
        return _error_response(503, type(error).__name__, "the store cannot be read or written", {"retry-after": "30"})
    if isinstance(error, SandboxUnavailable):
        return _error_response(
            503,
            "SandboxUnavailable",
            "the server has no sandbox, so it cannot convert files safely",
            {"retry-after": "60"},
        )
    if isinstance(error, UsageError | RecordMissing):
        return _error_response(404, "NotFound", "there is no such file", {})
    return _error_response(500, type(error).__name__, "the file cannot be shown", {})


def _error_response(status: int, kind: str, what: str, headers: Mapping[str, str]) -> Response:
    plain: dict[str, Any] = {"error": {"kind": kind, "what": what, "next": "", "where": "", "faults": {}}}
    return JSONResponse(plain, status, headers=headers)
