"""`POST /.worksample/query`: one SELECT on a delivered SQLite database."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.content_origin.content_request import read
from worksample.viewing.database_query import LENGTH

from .content_request import DEPTH, Content, done
from .refusals import ContentRefused, not_found

if TYPE_CHECKING:
    from worksample.app.content_origin.capabilities import Grant

LARGEST = 128 << 10
"""Bytes of a request."""


async def query(content: Content, grant: Grant, request: Request) -> Response:
    """One at a time for each deliverable. Only the viewer and the app may ask: each query starts a box."""
    config = content.services.config
    origin = request.headers.get("origin")
    if origin is not None and origin not in (config.app_origin, config.viewer_origin):
        raise ContentRefused(403, "queries come from the viewer")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ContentRefused(415, "a query is JSON")
    paths, sql = _said(await read(request, LARGEST, config.body_seconds))
    key = grant.session + grant.item + grant.pane
    if key in content.asking:
        raise ContentRefused(429, "another query is still running", {"retry-after": "1"})
    content.asking.add(key)
    try:
        found = await content.follow(grant, paths)
        done(found)
        assert isinstance(found, tuple)
        tree, entry = found
        if entry.blob is None:
            raise not_found()
        answer = await content.services.preparing.query(tree.digest, entry.path, sql)
    finally:
        content.asking.discard(key)
    plain = {"columns": answer.columns, "rows": answer.rows, "truncated": answer.more, "problem": answer.problem}
    return Response(await asyncio.to_thread(_dumped, plain), media_type=JSONResponse.media_type)


def _dumped(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")


def _said(body: bytes) -> tuple[list[str], str]:
    try:
        plain = json.loads(body)
        paths, sql = plain["path"], plain["sql"]
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise ContentRefused(400, "a query is an object with path and sql") from e
    if not isinstance(sql, str) or not 0 < len(sql) <= LENGTH:
        raise ContentRefused(400, f"a query has 1 to {LENGTH} characters")
    if not isinstance(paths, list) or len(paths) > DEPTH or not all(isinstance(p, str) for p in paths):
        raise ContentRefused(400, "path is a list of paths")
    return paths, sql
