"""The session's cookie, and the token that every write has to show beside it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from worksample.app.config import AppConfig

LASTS = 30 * 24 * 3600
"""Seconds; the session itself may end sooner."""
_MOST = 4
_PURPOSE = b"worksample csrf 1"


def set_cookie(config: AppConfig, token: str) -> str:
    """A Set-Cookie header that signs in. Without a Domain it belongs to the app's host alone."""
    return _cookie(config, token, LASTS)


def clear_cookie(config: AppConfig) -> str:
    """A Set-Cookie header that signs out."""
    return _cookie(config, "", 0)


def _cookie(config: AppConfig, value: str, seconds: int) -> str:
    secure = "; Secure" if config.scheme == "https" else ""
    return f"{config.cookie}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def read_cookies(config: AppConfig, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """Every value under the session's name, each once.

    Over plain HTTP a deliverable's page can plant a cookie of this name for the whole domain, so there may be several;
    which one is a session's is for `signed` to find out.
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
    """What writes of this session carry in X-CSRF-Token. The session's token is the key, so every server knows it."""
    return hmac.new(token.encode("utf-8", "surrogatepass"), _PURPOSE, hashlib.sha256).hexdigest()


def csrf_matches(token: str, shown: str) -> bool:
    """Whether it is this session's; in constant time."""
    return hmac.compare_digest(csrf_of(token).encode(), shown.encode("utf-8", "surrogatepass"))
