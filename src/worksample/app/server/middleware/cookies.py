"""The session cookie, and the CSRF token that every write must send with it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from worksample.app.config import AppConfig

LASTS = 30 * 24 * 3600
"""Seconds until the cookie expires; the session may end sooner."""
_MOST = 4
_PURPOSE = b"worksample csrf 1"


def set_cookie(config: AppConfig, token: str) -> str:
    """Return a Set-Cookie header that signs in. Without a Domain the cookie belongs to the app's host alone."""
    return _cookie(config, token, LASTS)


def clear_cookie(config: AppConfig) -> str:
    """Return a Set-Cookie header that signs out."""
    return _cookie(config, "", 0)


def _cookie(config: AppConfig, value: str, seconds: int) -> str:
    secure = "; Secure" if config.scheme == "https" else ""
    return f"{config.cookie}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def read_cookies(config: AppConfig, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """Return all distinct values of the session cookie.

    Over plain HTTP a deliverable's page can plant a cookie of this name for the whole domain, so there may be several.
    `find_session` decides which one is valid.
    """
    found: dict[str, None] = {}
    for name, value in headers:
        if name == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                key, equals, said = pair.strip().partition("=")
                if equals and key == config.cookie and said and len(said) <= 200:
                    found[said.strip('"')] = None
    return tuple(found)[:_MOST]


def csrf_of(token: str) -> str:
    """Return the X-CSRF-Token of a session. It is derived from the session's token, so every server can check it."""
    return hmac.new(token.encode("utf-8", "surrogatepass"), _PURPOSE, hashlib.sha256).hexdigest()


def csrf_matches(token: str, shown: str) -> bool:
    """Compare with the session's CSRF token, in constant time."""
    return hmac.compare_digest(csrf_of(token).encode(), shown.encode("utf-8", "surrogatepass"))
