"""HTTP requests to dialects, and the dialects' responses."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

NOT_SERVED = 501


@dataclass(frozen=True)
class DialectRequest:
    """A request to a dialect. `path` still has its URL quoting. `origin` is the address under which the client reached
    the dialect.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    origin: str

    @property
    def basic(self) -> tuple[str, str] | None:
        """Account and password of HTTP basic authentication, or None if the request has none."""
        kind, _, word = self.headers.get("authorization", "").partition(" ")
        if kind.lower() != "basic":
            return None
        try:
            account, colon, password = base64.b64decode(word, validate=True).decode().partition(":")
        except ValueError:
            return None
        return (account, password) if colon else None

    def values(self) -> dict[str, Any]:
        """Return the values of the query and of the body (JSON or form). Values of the body take precedence. Raises
        ValueError if the body is neither JSON nor a form.
        """
        found: dict[str, Any] = dict(self.query)
        if self.headers.get("content-type", "").startswith("application/json"):
            given = json.loads(self.body or b"{}")
            if not isinstance(given, dict):
                raise ValueError("the body is not a JSON object")
            return found | given
        return found | dict(urllib.parse.parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True)
class DialectResponse:
    """A response of a dialect. `by` is the requesting account, for the log.

    `lacks` names a missing feature, if the status is 501 or if the response differs from what was requested. The result
    of a grader that received such a response is not trusted.
    """

    status: int
    body: bytes | Iterable[bytes] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    by: str = ""
    lacks: str = ""


class DialectRefused(Exception):
    """A refused request, which is answered only with a status and a reason. Status 501 means that this workplace does
    not support the request.
    """

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status, self.why, self.headers = status, why, headers or {}


def not_served(what: str) -> DialectRefused:
    """Return the refusal of a feature that this workplace does not have."""
    return DialectRefused(NOT_SERVED, f"not served by this workplace: {what}")


PAGES = "this page is the tracker's own, not the product's"


def redirect_page(address: str) -> DialectResponse:
    """Return a response that redirects a browser to the page that replaces the product's page."""
    return DialectResponse(302, b"", {"Location": address}, lacks=PAGES)


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None, by: str = ""
) -> DialectResponse:
    """Return a response with a JSON body."""
    data = json.dumps(value, ensure_ascii=False).encode()
    return DialectResponse(status, data, {"Content-Type": "application/json", **(headers or {})}, by)


def bounded_number(text: object, usual: int, most: int) -> int:
    """Return a number that a client sent, limited to the range from 0 to `most`. Return `usual` if the text is not a
    number.
    """
    try:
        return max(0, min(int(str(text)), most))
    except ValueError:
        return usual
