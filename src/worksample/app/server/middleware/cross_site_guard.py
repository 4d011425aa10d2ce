"""Protection against cross-site request forgery: checks a write's origin and its CSRF token."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from worksample.app.config import AppConfig
from worksample.app.server.authentication import bearer_of

from .cookies import csrf_matches, read_cookies
from .error_responses import refuse

READS = frozenset({"GET", "HEAD", "OPTIONS"})
_API = "/api/"
# Before sign-in there is no token; Origin and Sec-Fetch-Site alone prevent cross-site sign-ins.
_ENTRANCES = frozenset({"/api/v1/session", "/api/v1/session/link", "/api/v1/invitations/accept"})


class CrossSiteGuard:
    """Middleware in front of the API. Pages of deliverables are same-site, so browsers send SameSite cookies with their
    requests.

    A request with an Authorization header comes from a script: a page of another origin cannot send that header.
    """

    def __init__(self, app: ASGIApp, config: AppConfig) -> None:
        self._app, self._config = app, config
        self._origin = config.app_origin.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wrong = self._find_fault(scope) if scope["path"].startswith(_API) else None
        if wrong is None:
            await self._app(scope, receive, send)
        else:
            await refuse(send, *wrong)

    def _find_fault(self, scope: Scope) -> tuple[int, str, str] | None:
        """Return status, kind and text of the fault in a request's origin; None if there is none."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        bearer = bool(bearer_of(scope))
        write = scope["method"] not in READS
        if not bearer and headers.get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none"):
            return 403, "Denied", "this request comes from another page"
        if not write:
            return None
        if not bearer and headers.get(b"origin", self._origin) != self._origin:
            return 403, "Denied", "this request comes from another page"
        if not _is_json(headers):
            return 415, "UsageError", "a body is application/json"
        if bearer or (scope["path"] in _ENTRANCES and scope["method"] == "POST"):
            return None
        tokens = read_cookies(self._config, scope["headers"])
        if not tokens:
            return 401, "SignedOut", "not signed in"
        shown = headers.get(b"x-csrf-token", b"").decode("latin-1")
        if not any(csrf_matches(token, shown) for token in tokens):
            return 403, "Denied", "the X-CSRF-Token is missing or wrong"
        return None


def _is_json(headers: dict[bytes, bytes]) -> bool:
    """Tell whether a body, if any, is declared as JSON. Browsers let pages post forms and plain text across origins."""
    if headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers:
        return b"content-type" not in headers or _named_json(headers)
    return _named_json(headers)


def _named_json(headers: dict[bytes, bytes]) -> bool:
    return headers.get(b"content-type", b"").split(b";")[0].strip().lower() == b"application/json"
