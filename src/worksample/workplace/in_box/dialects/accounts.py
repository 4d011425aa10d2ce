"""Accounts of the clients of dialects. A client is identified by account and password, or by a token."""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .backend import basic
from .http_messages import DialectRefused, DialectRequest

TOKENS = 10_000
"""Maximum tokens that are remembered. The oldest tokens are forgotten first."""
OPERATOR = "operator"


@dataclass(frozen=True)
class DialectAccount:
    """An account of a client, with the HTTP header by which the services recognise the account."""

    name: str
    authorization: str


class DialectAccounts:
    """The accounts of a workplace. `accounts` contains the passwords by person, including the operator's password.
    `known` is a file with the tokens and further names that the company defines (`in_box/seed.py`).

    Tokens that are created in this class are random and known only to this process, so a reset of the workplace
    invalidates them.
    """

    def __init__(self, accounts: Mapping[str, str], known: Path | None = None) -> None:
        self._passwords = dict(accounts)
        given = _read_known(known)
        self._names: dict[str, str] = {name: who for name, who in given["names"].items() if who in self._passwords}
        self._given = {token: who for token, who in given["tokens"].items() if who in self._passwords}
        if operator := self._passwords.get(OPERATOR):
            self._given[operator] = OPERATOR
        self._made: dict[str, str] = {}
        self._lock = threading.Lock()

    def find_account(self, request: DialectRequest) -> DialectAccount | None:
        """Return the account that a request names. Return None if the request names no account or an unknown
        account.
        """
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.by_token(word.strip())
        if (said := request.basic) is not None:
            return self.by_password(*said) or self.by_token(said[1]) or self.by_token(said[0])
        for given in (request.headers.get("private-token"), request.headers.get("x-api-key")):
            if given:
                return self.by_token(given)
        return self.by_token(request.query.get("private_token") or request.query.get("access_token") or "")

    def by_password(self, name: str, password: str) -> DialectAccount | None:
        """Return the account with this name and password, or None. Any name of the account is accepted."""
        name = self._names.get(name, name)
        known = self._passwords.get(name, "")
        return self._account_for(name) if known and hmac.compare_digest(known.encode(), password.encode()) else None

    def by_token(self, token: str) -> DialectAccount | None:
        """Return the account to which a token belongs, or None for an unknown token."""
        if not token:
            return None
        with self._lock:
            name = self._made.get(token) or self._given.get(token)
        return self._account_for(name) if name else None

    def operator(self) -> DialectAccount:
        """Return the operator's account. It is used for information that everybody may know but that the services do
        not show to every account.
        """
        if OPERATOR not in self._passwords:
            raise DialectRefused(503, "this workplace has no operator")
        return self._account_for(OPERATOR)

    def token_for(self, who: DialectAccount, beginning: str) -> str:
        """Create and return a token for an account. The token starts with `beginning`."""
        made = beginning + secrets.token_urlsafe(24)
        with self._lock:
            self._made[made] = who.name
            while len(self._made) > TOKENS:
                del self._made[next(iter(self._made))]
        return made

    def forget(self, token: str) -> None:
        """Invalidate a token that `token_for` created."""
        with self._lock:
            self._made.pop(token, None)

    def _account_for(self, name: str) -> DialectAccount:
        password = self._passwords[name]
        # The tracker recognises the operator by a key, sent as a name without a password.
        return DialectAccount(name, basic(password, "") if name == OPERATOR else basic(name, password))


def _read_known(known: Path | None) -> dict[str, dict[str, str]]:
    try:
        found: Any = json.loads(known.read_bytes()) if known is not None else {}
    except FileNotFoundError:
        found = {}
    return {"names": dict(found.get("names", {})), "tokens": dict(found.get("tokens", {}))}


def challenge(what: str) -> DialectRefused:
    """Return the refusal that makes a client program ask its user for account and password."""
    return DialectRefused(401, "401 Unauthorized", {"WWW-Authenticate": f'Basic realm="{what}"'})
