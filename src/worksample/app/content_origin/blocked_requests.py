"""`/.worksample/blocked`: browsers report requests that the security policy blocked, and the viewer reads the
reports.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.content_origin.content_request import ContentServices, number_field, query_fields, read_body
from worksample.app.content_origin.error_responses import ContentRefused
from worksample.people.clock import now_in_microseconds
from worksample.people.judging.blinding import scrub

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant

LARGEST = 32 << 10
"""Most bytes of one report. Browsers send the whole policy with it."""


async def serve_blocked_requests(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Store a posted report, or list the requests that were blocked since the time in the query."""
    key = f"{grant.session} {grant.item} {grant.pane}"
    if request.method == "POST":
        url, directive = _read_report(await read_body(request, LARGEST, content.services.config.body_seconds))
        content.reports.note(key, url, directive)
        return Response(status_code=204)
    # A pane shows many files in turn: the time of the view's response separates their reports.
    since = number_field(query_fields(request), "since", digits=18)
    rows = [
        {"url": scrub(url, grant.hidden), "directive": directive} for url, directive in content.reports.of(key, since)
    ]
    return JSONResponse({"blocked": rows})


def _read_report(body: bytes) -> tuple[str, str]:
    """Read the address and the directive from a browser's report (`report-uri`, CSP Level 3, 5.3)."""
    try:
        said = json.loads(body)["csp-report"]
        return str(said["blocked-uri"]), str(said.get("effective-directive") or said.get("violated-directive", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise ContentRefused(400, "the body is not a report of blocked requests") from e


DISTINCT, LABELS, LONGEST = 200, 500, 300
_OUTSIDE = ("http://", "https://", "ws://", "wss://")


class BlockedRequests:
    """Requests that policies blocked, by content label, in memory and within limits. Safe to use from several threads.

    A page can invent reports, so they are a hint for the reader and no evidence.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, OrderedDict[tuple[str, str], int]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, label: str, url: str, directive: str) -> None:
        """Record a blocked request to an outside address; ignore other addresses. The oldest records are dropped
        first.
        """
        if not url.startswith(_OUTSIDE):
            return
        key = (_shorten(url), _shorten(directive)[:40])
        with self._lock:
            mine = self._known.setdefault(label, OrderedDict())
            self._known.move_to_end(label)
            mine[key] = now_in_microseconds()
            mine.move_to_end(key)
            if len(mine) > DISTINCT:
                mine.popitem(last=False)
            if len(self._known) > LABELS:
                self._known.popitem(last=False)

    def of(self, label: str, since: int = 0) -> list[tuple[str, str]]:
        """Return address and directive of the requests blocked at `since` (microseconds since 1970) or later, the
        latest last.
        """
        with self._lock:
            return [key for key, when in self._known.get(label, {}).items() if when >= since]


def _shorten(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:LONGEST])
