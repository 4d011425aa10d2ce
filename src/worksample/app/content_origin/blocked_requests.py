"""`/.worksample/blocked`: browsers post what a policy blocked, the viewer reads it."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.content_origin.content_request import Content, asked, number, read
from worksample.app.content_origin.refusals import ContentRefused
from worksample.people.clock import wall
from worksample.people.judging.blinding import scrub

if TYPE_CHECKING:
    from worksample.app.content_origin.capabilities import Grant

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


DISTINCT, LABELS, LONGEST = 200, 500, 300
_OUTSIDE = ("http://", "https://", "ws://", "wss://")


class Reports:
    """For any number of threads. Pages may invent reports of their own: they are a hint to show, no evidence."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, OrderedDict[tuple[str, str], int]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, label: str, url: str, directive: str) -> None:
        """Keep a request that a policy blocked; what leads nowhere outside is none. The oldest make room."""
        if not url.startswith(_OUTSIDE):
            return
        key = (_short(url), _short(directive)[:40])
        with self._lock:
            mine = self._known.setdefault(label, OrderedDict())
            self._known.move_to_end(label)
            mine[key] = wall()
            mine.move_to_end(key)
            if len(mine) > DISTINCT:
                mine.popitem(last=False)
            if len(self._known) > LABELS:
                self._known.popitem(last=False)

    def of(self, label: str, since: int = 0) -> list[tuple[str, str]]:
        """Address and directive of what was blocked at `since` (microseconds since 1970) or later, the latest last."""
        with self._lock:
            return [key for key, when in self._known.get(label, {}).items() if when >= since]


def _short(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:LONGEST])
