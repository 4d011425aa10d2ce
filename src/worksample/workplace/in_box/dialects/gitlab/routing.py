"""Routes from addresses to the functions that answer them, and lists that are sent page by page."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..http_messages import DialectRefused, DialectRequest, DialectResponse, bounded_number, json_response, not_served

if TYPE_CHECKING:
    from .view import GitLabView

Given = Mapping[str, Any]
Verb = Callable[["GitLabView", Mapping[str, str], Given], Any]
PER_PAGE, MOST_PER_PAGE = 20, 100


@dataclass(frozen=True)
class ListResponse:
    """A response with many rows, which are sent page by page."""

    rows: list[Any]
    render: Callable[[Any], Any] = lambda row: row
    """Function that converts a row of the requested page to its JSON form."""


_ROUTES: list[tuple[str, tuple[str, ...], Verb]] = []


def route(method: str, path: str) -> Callable[[Verb], Verb]:
    """Register a function for an address; `:name` in the path matches any one word."""

    def mark(verb: Verb) -> Verb:
        _ROUTES.append((method, tuple(path.split("/")), verb))
        return verb

    return mark


def find_route(method: str, path: str) -> tuple[Verb, dict[str, str]]:
    """Return the function for an address, and the words that its `:name` parts matched. Raises DialectRefused (501) for
    an unknown address.
    """
    words = path.strip("/").split("/")
    others = set()
    for verb, parts, work in _ROUTES:
        if len(parts) != len(words) or any(p != w for p, w in zip(parts, words, strict=True) if not p.startswith(":")):
            continue
        if verb == method:
            named = {p[1:]: urllib.parse.unquote(w) for p, w in zip(parts, words, strict=True) if p.startswith(":")}
            return work, named
        others.add(verb)
    raise not_served(f"GitLab's {method} {path}" + (f" (only {', '.join(sorted(others))})" if others else ""))


def to_response(request: DialectRequest, value: Any, by: str) -> DialectResponse:
    """Convert the result of an API function to an HTTP response."""
    if isinstance(value, DialectResponse):
        return value
    if isinstance(value, ListResponse):
        return _page_response(request, value, by)
    if value is None:
        return DialectResponse(204, by=by)
    return json_response(value, 201 if request.method == "POST" else 200, by=by)


def _page_response(request: DialectRequest, listed: ListResponse, by: str) -> DialectResponse:
    per_page = bounded_number(request.query.get("per_page"), PER_PAGE, MOST_PER_PAGE) or PER_PAGE
    page = bounded_number(request.query.get("page"), 1, 1 << 30) or 1
    total = len(listed.rows)
    pages = max(1, -(-total // per_page))
    cut = listed.rows[(page - 1) * per_page : page * per_page]
    heads = {"X-Total": total, "X-Total-Pages": pages, "X-Per-Page": per_page, "X-Page": page}
    following = {"next": page + 1 if page < pages else None, "prev": page - 1 if page > 1 else None}
    links = []
    for name, to in {**following, "first": 1, "last": pages}.items():
        if to is not None:
            query = urllib.parse.urlencode({**request.query, "page": to, "per_page": per_page})
            links.append(f'<{request.origin}{request.path}?{query}>; rel="{name}"')
    told = {**{key: str(value) for key, value in heads.items()}, "Link": ", ".join(links)}
    told |= {f"X-{name.title()}-Page": str(to or "") for name, to in following.items()}
    return json_response([listed.render(row) for row in cut], 200, told, by)


def require_values(given: Given, *names: str) -> None:
    """Raise DialectRefused (400) if a required value is missing in the request."""
    if missing := [name for name in names if given.get(name) in (None, "")]:
        raise DialectRefused(400, f"{missing[0]} is missing")


def refuse_values(given: Given, *names: str) -> None:
    """Raise DialectRefused (501) if the request has one of the named values, which this workplace does not support."""
    if asked := [name for name in names if given.get(name) not in (None, "", False, "false", [])]:
        raise not_served(f"{asked[0]} here")


def is_true(value: object) -> bool:
    """Return whether a value of a request means true."""
    return value is True or str(value).lower() in ("true", "1", "yes")


def words_of(value: object) -> list[str]:
    """Return the words of a list, or of a text that separates words by commas."""
    parts: Iterable[object] = value if isinstance(value, list) else str(value or "").split(",")
    return [word for part in parts if (word := str(part).strip())]
