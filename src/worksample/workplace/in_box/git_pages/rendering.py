"""Pages from templates. Every value is escaped unless it was made as HTML by this package."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..dialects.http_messages import DialectResponse

HERE = Path(__file__).parent
STATIC = {"style.css": "text/css; charset=utf-8"}
"""File beside the templates -> its media type."""
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}  # fmt: skip


@functools.cache
def templates() -> Any:
    """Return the environment of the templates, all of which are compiled."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from .text import markdown

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.filters["markdown"] = markdown
    made.filters["moment"] = moment
    for name in made.list_templates():
        made.get_template(name)
    return made


def moment(text: str | None) -> str:
    """Return a time of GitLab's API or of git as people read it, in UTC. Return "" for no time."""
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    except (ValueError, OverflowError):
        return text[:40]
    return f"{at.day} {at:%b} {at.year}, {at:%H:%M}"


def page_response(template: str, title: str, by: str, status: int = 200, **values: Any) -> DialectResponse:
    """Return a page. `by` is the account that is signed in, or ""."""
    usual = {"session": None, "project": None, "tab": "", "wrong": False, "me": None, "title": title}
    text = templates().get_template(template).render({**usual, **values})
    return DialectResponse(status, text.encode(), {"Content-Type": "text/html; charset=utf-8", **_HEADERS}, by)


def static_response(name: str) -> DialectResponse:
    """Return a file that belongs to the pages."""
    if name not in STATIC:
        return DialectResponse(404)
    return DialectResponse(
        200, (HERE / "templates" / name).read_bytes(),
        {"Content-Type": STATIC[name], "X-Content-Type-Options": "nosniff", "Cache-Control": "max-age=3600"},
    )  # fmt: skip
