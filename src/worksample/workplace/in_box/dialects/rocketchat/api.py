"""Rocket.Chat's REST API over the chat: login, people, direct conversations, channels.

A client logs in with an account and password of the chat, and has the rights of this account. The names of people are
defined by the company and cannot be changed. A message belongs to the account that sent it, whatever name the message
shows.

These features are not supported: threads, reactions, edits, files, private groups of several people, statuses,
administration.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from typing import Any

from ..backend import CHAT, Backend, basic
from ..http_messages import NOT_SERVED, DialectRefused, DialectRequest, DialectResponse, json_response
from .api_methods import find_method
from .view import RocketChatView, identity

TOKENS = 10_000
"""Maximum tokens that are remembered. The oldest tokens are forgotten first."""


class RocketChat:
    """The dialect of Rocket.Chat. Tokens are random and known only to this process, so they are invalid after a reset
    and in other workplaces.
    """

    def __init__(self, chat: Backend = CHAT) -> None:
        self._chat = chat
        self._by_token: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()

    def answer(self, request: DialectRequest) -> DialectResponse:
        """Return the response to a request."""
        try:
            return self._answer(request)
        except DialectRefused as error:
            kind = {NOT_SERVED: "error-not-served", 401: "unauthorized"}.get(error.status, "error-not-allowed")
            said = {"success": False, "status": "error", "error": error.why, "message": error.why, "errorType": kind}
            return json_response(said, error.status)

    def _answer(self, request: DialectRequest) -> DialectResponse:
        if request.path == "/api/info":
            return json_response({"version": "5.3.0", "success": True})
        name = request.path.removeprefix("/api/v1/").strip("/")
        given = request.values()
        if name == "info":
            return json_response({"info": {"version": "5.3.0"}, "success": True})
        if name == "login":
            return self._login(given)
        asker = self._asker(request)
        if name == "logout":
            with self._lock:
                self._by_token.pop(request.headers["x-auth-token"], None)
            return json_response({"status": "success", "success": True}, by=asker.name)
        method, verb = find_method(name)
        if method != request.method:
            raise DialectRefused(405, f"{name} needs the method {method}")
        return json_response({**verb(asker, given), "success": True}, by=asker.name)

    def _login(self, given: Mapping[str, Any]) -> DialectResponse:
        if given.get("resume"):
            token = str(given["resume"])
            with self._lock:
                known = self._by_token.get(token)
            if known is None:
                raise DialectRefused(401, "Unauthorized")
            name, who = known
        else:
            user = given.get("user", given.get("username", given.get("email", "")))
            name = str(user.get("username", "") if isinstance(user, dict) else user).strip().lower()
            who, token = basic(name, str(given.get("password", ""))), secrets.token_urlsafe(32)
            if name == "operator" or self._chat.json("GET", "/api/me", who)[0] != 200:
                raise DialectRefused(401, "Unauthorized")
        asker = RocketChatView(name, who, self._chat)
        shown = asker.person(name)
        with self._lock:
            self._by_token[token] = (name, who)
            while len(self._by_token) > TOKENS:
                del self._by_token[next(iter(self._by_token))]
        return json_response({
            "status": "success", "success": True,
            "data": {"userId": shown["_id"], "authToken": token, "me": {**shown, "emails": []}},
        }, by=name)  # fmt: skip

    def _asker(self, request: DialectRequest) -> RocketChatView:
        with self._lock:
            known = self._by_token.get(request.headers.get("x-auth-token", ""))
        if known is None or request.headers.get("x-user-id") != identity("person", known[0]):
            raise DialectRefused(401, "You must be logged in to do this.")
        return RocketChatView(*known, self._chat)
