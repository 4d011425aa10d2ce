"""`POST /.worksample/query`: run one SELECT on a delivered SQLite database."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.content_origin.content_request import read_body
from worksample.viewing.database_query import LENGTH

from .content_request import DEPTH, ContentServices, require_ready
from .error_responses import ContentRefused, not_found

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant

LARGEST = 128 << 10
"""Most bytes of a request."""


async def serve_query(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Run one query at a time per deliverable. Only the viewer and the app may ask, because each query starts a box."""
    config = content.services.config
    origin = request.headers.get("origin")
    if origin is not None and origin not in (config.app_origin, config.viewer_origin):
        raise ContentRefused(403, "only the viewer's page may send queries")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ContentRefused(415, "the query must be sent as JSON")
    paths, sql = _read_query(await read_body(request, LARGEST, config.body_seconds))
    key = grant.session + grant.item + grant.pane
    if key in content.asking:
        raise ContentRefused(429, "another query is still running", {"retry-after": "1"})
    content.asking.add(key)
    try:
        found = await content.follow(grant, paths)
        require_ready(found)
        assert isinstance(found, tuple)
        tree, entry = found
        if entry.blob is None:
            raise not_found()
        answer = await content.services.view_preparer.query(tree.digest, entry.path, sql)
    finally:
        content.asking.discard(key)
    plain = {"columns": answer.columns, "rows": answer.rows, "truncated": answer.more, "problem": answer.problem}
    return Response(await asyncio.to_thread(_encode_json, plain), media_type=JSONResponse.media_type)


def _encode_json(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")


def _read_query(body: bytes) -> tuple[list[str], str]:
    try:
        plain = json.loads(body)
        paths, sql = plain["path"], plain["sql"]
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise ContentRefused(400, "the query must be an object with path and sql") from e
    if not isinstance(sql, str) or not 0 < len(sql) <= LENGTH:
        raise ContentRefused(400, f"the query must have 1 to {LENGTH} characters")
    if not isinstance(paths, list) or len(paths) > DEPTH or not all(isinstance(p, str) for p in paths):
        raise ContentRefused(400, "path must be a list of paths")
    return paths, sql
