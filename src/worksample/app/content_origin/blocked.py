"""`/.worksample/blocked`: browsers post what a policy blocked, the viewer reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.people.work.blinding import scrub

from .body import read
from .content import Content, asked, number
from .refused import ContentRefused

if TYPE_CHECKING:
    from worksample.app.content_urls import Grant

LARGEST = 32 << 10
"""Bytes of a report: browsers send the policy along."""


async def blocked(content: Content, grant: Grant, request: Request) -> Response:
    key = f"{grant.session} {grant.item} {grant.pane}"
    if request.method == "POST":
        url, directive = _reported(await read(request, LARGEST, content.services.config.body_seconds))
        content.reports.note(key, url, directive)
        return Response(status_code=204)
    # A pane shows many files, one after another: the moment at which a view was answered keeps them apart.
    since = number(asked(request), "since", digits=18)
    rows = [
        {"url": scrub(url, grant.hidden), "directive": directive} for url, directive in content.reports.of(key, since)
    ]
    return JSONResponse({"blocked": rows})


def _reported(body: bytes) -> tuple[str, str]:
    """As `report-uri` sends it (CSP Level 3, 5.3)."""
    try:
        said = json.loads(body)["csp-report"]
        return str(said["blocked-uri"]), str(said.get("effective-directive") or said.get("violated-directive", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise ContentRefused(400, "this is not a report") from e
