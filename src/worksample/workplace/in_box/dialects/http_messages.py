"""What a dialect is asked and what it answers."""

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
    """One request. `path` is as it came, still quoted; `origin`: the address under which the asker found this."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    origin: str

    @property
    def basic(self) -> tuple[str, str] | None:
        """Account and password of HTTP's basic authentication."""
        kind, _, word = self.headers.get("authorization", "").partition(" ")
        if kind.lower() != "basic":
            return None
        try:
            account, colon, password = base64.b64decode(word, validate=True).decode().partition(":")
        except ValueError:
            return None
        return (account, password) if colon else None

    def values(self) -> dict[str, Any]:
        """What the body says, as JSON or as a form, over what the address says. ValueError for what is neither."""
        found: dict[str, Any] = dict(self.query)
        if self.headers.get("content-type", "").startswith("application/json"):
            given = json.loads(self.body or b"{}")
            if not isinstance(given, dict):
                raise ValueError("the body is no table")
            return found | given
        return found | dict(urllib.parse.parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True)
class DialectResponse:
    """`by`: the account that asked, for the log. `lacks`: what is missing here, of an answer 501 or of one that is
    something else than was asked for: a grader that met it is not believed."""

    status: int
    body: bytes | Iterable[bytes] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    by: str = ""
    lacks: str = ""


class DialectRefused(Exception):
    """A request that gets no more than a status and a reason. `status` 501 says that this is not served here."""

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status, self.why, self.headers = status, why, headers or {}


def not_served(what: str) -> DialectRefused:
    return DialectRefused(NOT_SERVED, f"not served by this workplace: {what}")


PAGES = "pages are the tracker's own, which a grader must not take for those it asks for"


def redirect_page(address: str) -> DialectResponse:
    """Where a browser finds what stands in for a page of the product's."""
    return DialectResponse(302, b"", {"Location": address}, lacks=PAGES)


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None, by: str = ""
) -> DialectResponse:
    data = json.dumps(value, ensure_ascii=False).encode()
    return DialectResponse(status, data, {"Content-Type": "application/json", **(headers or {})}, by)


def bounded_number(text: object, usual: int, most: int) -> int:
    """A count that somebody gave; the usual one for what is none."""
    try:
        return max(0, min(int(str(text)), most))
    except ValueError:
        return usual
