"""Sessions of people who are signed in to the pages, and the proof that a form was sent from a page of their own."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from ..dialects.accounts import DialectAccount, DialectAccounts
from ..dialects.http_messages import DialectRequest

COOKIE = "git_session"


@dataclass(frozen=True)
class PageSession:
    """A person who is signed in. `proof` stands in every form, so that no other site can send a form for the person."""

    who: DialectAccount
    token: str
    proof: str


class PageSessions:
    """Sessions of the pages. They end with a reset of the workplace."""

    def __init__(self, accounts: DialectAccounts) -> None:
        self._accounts = accounts
        self._secret = secrets.token_bytes(32)

    def find(self, request: DialectRequest) -> PageSession | None:
        """Return the session of a request, by its cookie or by HTTP basic authentication, or None."""
        token = _cookie(request.headers.get("cookie", ""))
        who = self._accounts.by_token(token) if token else None
        if who is None:
            token, who = "", self._accounts.find_account(request)
        return None if who is None else PageSession(who, token, self._proof(token or who.name))

    def begin(self, name: str, password: str) -> PageSession | None:
        """Return a new session for account and password, or None if no account has both."""
        who = self._accounts.by_password(name, password)
        if who is None:
            return None
        token = self._accounts.token_for(who, "session-")
        return PageSession(who, token, self._proof(token))

    def end(self, session: PageSession) -> None:
        """End a session."""
        self._accounts.forget(session.token)

    def _proof(self, word: str) -> str:
        return hmac.new(self._secret, word.encode(), hashlib.sha256).hexdigest()


def session_cookie(token: str) -> str:
    """Return the header value that stores a session in a browser; an empty token removes it."""
    return f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax" + ("" if token else "; Max-Age=0")


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""
