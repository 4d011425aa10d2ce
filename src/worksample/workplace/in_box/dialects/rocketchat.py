"""Rocket.Chat's REST API over the chat: log in, people, direct conversations, channels.

Who logs in by it speaks to the chat with the same account and password, and can do what they can do there. Names are
those of the company: nobody changes one, and a message is of the account that sent it, whatever name it shows.

Not here: threads, reactions, edits, files, groups of several people in private, statuses, administration.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from .backend import CHAT, Backend, basic
from .exchange import NOT_SERVED, Answer, Refused, Request, as_json, not_served, number

TOKENS = 10_000
"""That are remembered: the oldest are forgotten first."""
PAGE = 500
"""Messages that the chat gives at once."""
MOST_BACK = 50_000
"""Messages that one request walks back over."""
Verb = Callable[["_Asker", Mapping[str, Any]], dict[str, Any]]


def identity(kind: str, name: str) -> str:
    """The id of a person or room: the same in each workplace, and no secret."""
    return hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()[:17]


class RocketChat:
    """Tokens are random, of this process alone: after a reset, and in another workplace, none of them is known."""

    def __init__(self, chat: Backend = CHAT) -> None:
        self._chat = chat
        self._by_token: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Answer:
        """See Dialect."""
        try:
            return self._answer(request)
        except Refused as error:
            kind = {NOT_SERVED: "error-not-served", 401: "unauthorized"}.get(error.status, "error-not-allowed")
            said = {"success": False, "status": "error", "error": error.why, "message": error.why, "errorType": kind}
            return as_json(said, error.status)

    def _answer(self, request: Request) -> Answer:
        if request.path == "/api/info":
            return as_json({"version": "5.3.0", "success": True})
        name = request.path.removeprefix("/api/v1/").strip("/")
        given = request.values()
        if name == "info":
            return as_json({"info": {"version": "5.3.0"}, "success": True})
        if name == "login":
            return self._login(given)
        asker = self._asker(request)
        if name == "logout":
            with self._lock:
                self._by_token.pop(request.headers["x-auth-token"], None)
            return as_json({"status": "success", "success": True}, by=asker.name)
        method, verb = _verb(name)
        if method != request.method:
            raise Refused(405, f"{name} is asked by {method}")
        return as_json({**verb(asker, given), "success": True}, by=asker.name)

    def _login(self, given: Mapping[str, Any]) -> Answer:
        if given.get("resume"):
            token = str(given["resume"])
            with self._lock:
                known = self._by_token.get(token)
            if known is None:
                raise Refused(401, "Unauthorized")
            name, who = known
        else:
            user = given.get("user", given.get("username", given.get("email", "")))
            name = str(user.get("username", "") if isinstance(user, dict) else user).strip().lower()
            who, token = basic(name, str(given.get("password", ""))), secrets.token_urlsafe(32)
            if name == "operator" or self._chat.json("GET", "/api/me", who)[0] != 200:
                raise Refused(401, "Unauthorized")
        asker = _Asker(name, who, self._chat)
        shown = asker.person(name)
        with self._lock:
            self._by_token[token] = (name, who)
            while len(self._by_token) > TOKENS:
                del self._by_token[next(iter(self._by_token))]
        return as_json({
            "status": "success", "success": True,
            "data": {"userId": shown["_id"], "authToken": token, "me": {**shown, "emails": []}},
        }, by=name)  # fmt: skip

    def _asker(self, request: Request) -> _Asker:
        with self._lock:
            known = self._by_token.get(request.headers.get("x-auth-token", ""))
        if known is None or request.headers.get("x-user-id") != identity("person", known[0]):
            raise Refused(401, "You must be logged in to do this.")
        return _Asker(*known, self._chat)


class _Asker:
    """The chat as one person finds it."""

    def __init__(self, name: str, who: str, chat: Backend) -> None:
        self.name, self._who, self._chat = name, who, chat

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        status, found = self._chat.json(method, path, self._who, body)
        if status >= 400 or not isinstance(found, dict):
            why = found.get("error", "") if isinstance(found, dict) else ""
            raise Refused(status if 400 <= status < 500 else 502, why or "the chat does not answer")
        return found

    def people(self) -> list[dict[str, Any]]:
        return [
            {
                "_id": identity("person", one["id"]), "username": one["id"], "name": one["name"], "type": "user",
                "nameInsensitive": one["name"].lower(), "status": "offline", "active": True, "roles": ["user"],
            }
            for one in self.ask("GET", "/api/people")["people"]
        ]  # fmt: skip

    def person(self, name: str) -> dict[str, Any]:
        for one in self.people():
            if name in (one["username"], one["_id"]):
                return one
        raise Refused(400, 'The required "userId" or "username" param provided does not match any users')

    def conversation(self, other: str) -> dict[str, Any]:
        ids = sorted((identity("person", self.name), identity("person", other)))
        return {
            "_id": "".join(ids),
            "rid": "".join(ids),
            "t": "d",
            "usernames": sorted((self.name, other)),
            "uids": ids,
        }

    def conversations(self) -> list[dict[str, Any]]:
        return [self.conversation(one["with"]) for one in self.ask("GET", "/api/direct")["direct"]]

    def partner(self, place: str) -> str:
        """Whom a direct conversation is with: its id, or that of the person."""
        for one in self.people():
            if place in (one["_id"], self.conversation(one["username"])["_id"]):
                return str(one["username"])
        raise Refused(400, 'The required "roomId" param does not match any direct conversation')

    def rooms(self) -> list[dict[str, Any]]:
        return [
            {
                "_id": identity("room", one["name"]), "name": one["name"], "t": "p" if one.get("closed") else "c",
                "topic": one["topic"], "usersCount": one.get("members", 0), "msgs": one.get("messages", 0),
            }
            for one in self.ask("GET", "/api/rooms")["rooms"]
        ]  # fmt: skip

    def room(self, given: Mapping[str, Any]) -> dict[str, Any]:
        wanted = str(given.get("roomId") or given.get("roomName") or given.get("channel") or "").lstrip("#")
        for one in self.rooms():
            if wanted in (one["_id"], one["name"]):
                return one
        raise Refused(400, f'The required "roomId" or "roomName" param provided does not match any channel ({wanted})')

    def messages(self, path: str, room: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Newest first: `count` (20; 0 for all), `offset`, `latest`, `oldest`, as Rocket.Chat counts them."""
        names = {one["username"]: one["name"] for one in self.people()}
        count = number(given.get("count", 20), 20, MOST_BACK) or MOST_BACK
        wanted = min(number(given.get("offset", 0), 0, MOST_BACK) + count, MOST_BACK)
        latest, oldest = (_moment(given.get(key)) for key in ("latest", "oldest"))
        found: list[dict[str, Any]] = []
        before = ""
        while len(found) < wanted:
            query = {"newest": "1", "limit": str(PAGE), **({"before": before} if before else {})}
            page = self.ask("GET", f"{path}?{urllib.parse.urlencode(query)}")["messages"]
            found += [one for one in page if _within(one["at"], latest, oldest)]
            if len(page) < PAGE or (oldest is not None and not _within(page[-1]["at"], None, oldest)):
                break
            before = page[-1]["id"]
        return [_message(one, room, names) for one in found[wanted - count : wanted]]


def _moment(text: object) -> datetime | None:
    if not text:
        return None
    found = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _within(at: str, latest: datetime | None, oldest: datetime | None) -> bool:
    when = _moment(at)
    return when is not None and (latest is None or when < latest) and (oldest is None or when > oldest)


def _message(one: Mapping[str, Any], room: str, names: Mapping[str, str]) -> dict[str, Any]:
    by = one["by"] or ""
    at = one["at"].replace("Z", ".000Z") if "." not in one["at"] else one["at"]
    sender = {"_id": identity("person", by), "username": by, "name": names.get(by, by)}
    return {"_id": one["id"], "rid": room, "msg": one["text"], "ts": at, "_updatedAt": at, "u": sender}


def _paged(key: str, found: list[dict[str, Any]], given: Mapping[str, Any], usual: int = 50) -> dict[str, Any]:
    offset, count = number(given.get("offset", 0), 0, 1 << 30), number(given.get("count", usual), usual, 1 << 30)
    part = found[offset : offset + count] if count else found[offset:]
    return {key: part, "count": len(part), "offset": offset, "total": len(found)}


def _me(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    return {**asker.person(asker.name), "emails": []}


def _users(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("query") or given.get("fields") or given.get("sort"):
        raise not_served("users.list with query, fields or sort")
    return _paged("users", asker.people(), given)


def _user(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"user": asker.person(str(given.get("userId") or given.get("username") or ""))}


def _im_list(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    return _paged("ims", asker.conversations(), given)


def _im_history(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    other = asker.partner(str(given.get("roomId", "")))
    room = asker.conversation(other)["_id"]
    return {"messages": asker.messages(f"/api/direct/{other}", room, given)}


def _im_create(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    names = [
        one.strip() for one in str(given.get("username") or given.get("usernames") or "").split(",") if one.strip()
    ]
    if len(names) != 1:
        raise not_served("a direct conversation of more than two") if names else Refused(400, "a username is wanted")
    return {"room": asker.conversation(str(asker.person(names[0])["username"]))}


def _im_members(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    other = asker.partner(str(given.get("roomId", "")))
    return _paged("members", [asker.person(other), asker.person(asker.name)], given)


def _channels(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    return _paged("channels", asker.rooms(), given)


def _groups(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    return _paged("groups", [one for one in asker.rooms() if one["t"] == "p"], given)


def _channel(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    found = asker.room(given)
    return {"channel": found, "group": found, "room": found}


def _history(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    room = asker.room(given)
    return {"messages": asker.messages(f"/api/rooms/{room['name']}", room["_id"], given)}


def _members(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    inside = asker.ask("GET", f"/api/rooms/{asker.room(given)['name']}/members")["members"]
    return _paged("members", [one for one in asker.people() if one["username"] in inside], given)


def _create(asker: _Asker, given: Mapping[str, Any], closed: bool = False) -> dict[str, Any]:
    members = given.get("members") or []
    if not isinstance(members, list):
        raise Refused(400, "members is a list")
    body = {"name": str(given.get("name", "")), "closed": closed, "members": [str(one) for one in members]}
    asker.ask("POST", "/api/rooms", body)
    return _channel(asker, {"roomName": body["name"]})


def _create_group(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    return _create(asker, given, closed=True)


def _changing(verb: str) -> Verb:
    def change(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
        room = asker.room(given)
        who = asker.person(str(given.get("userId") or given.get("username") or ""))["username"]
        asker.ask("POST", f"/api/rooms/{room['name']}/members", {verb: who})
        return {"channel": room, "group": room}

    return change


def _topic(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    room, topic = asker.room(given), str(given.get("topic", given.get("description", "")))
    asker.ask("POST", f"/api/rooms/{room['name']}/topic", {"topic": topic})
    return {"topic": topic}


def _post(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    place, text = str(given.get("roomId") or given.get("channel") or ""), given.get("text")
    return {"message": _sent(asker, place, text), "channel": place}


def _send(asker: _Asker, given: Mapping[str, Any]) -> dict[str, Any]:
    message = given.get("message")
    message = json.loads(message) if isinstance(message, str) else message
    if not isinstance(message, dict):
        raise Refused(400, 'The "message" parameter must be provided.')
    if message.get("tmid"):
        raise not_served("threads")
    return {"message": _sent(asker, str(message.get("rid", "")), message.get("msg"))}


def _sent(asker: _Asker, place: str, text: object) -> dict[str, Any]:
    if not isinstance(text, str) or not text:
        raise not_served("messages without text")
    if place.startswith("@"):
        other: str | None = str(asker.person(place[1:])["username"])
    else:
        by_room = {key for one in asker.rooms() for key in (one["_id"], one["name"], f"#{one['name']}")}
        other = None if place in by_room else asker.partner(place)
    if other is not None:
        path, room = f"/api/direct/{other}", asker.conversation(other)["_id"]
    else:
        found = asker.room({"roomId": place})
        path, room = f"/api/rooms/{found['name']}", found["_id"]
    asker.ask("POST", path, {"text": text})
    return asker.messages(path, room, {"count": 1})[0]


READ: dict[str, Verb] = {
    "me": _me, "users.list": _users, "users.info": _user,
    "im.list": _im_list, "im.history": _im_history, "im.messages": _im_history, "im.members": _im_members,
    "channels.list": _channels, "channels.list.joined": _channels, "channels.info": _channel,
    "channels.history": _history, "channels.messages": _history, "channels.members": _members,
    "groups.list": _groups, "groups.info": _channel, "groups.history": _history, "groups.messages": _history,
    "groups.members": _members, "rooms.info": _channel,
}  # fmt: skip
WRITTEN: dict[str, Verb] = {
    "im.create": _im_create, "chat.postMessage": _post, "chat.sendMessage": _send,
    "channels.create": _create, "channels.invite": _changing("add"), "channels.kick": _changing("remove"),
    "channels.setTopic": _topic, "channels.setDescription": _topic,
    "channels.addOwner": _changing("owner"), "channels.removeOwner": _changing("member"),
    "groups.create": _create_group, "groups.invite": _changing("add"), "groups.kick": _changing("remove"),
    "groups.setTopic": _topic, "groups.addOwner": _changing("owner"),
}  # fmt: skip


def _verb(name: str) -> tuple[str, Verb]:
    name = name.replace("dm.", "im.", 1) if name.startswith("dm.") else name
    if name in READ:
        return "GET", READ[name]
    if name in WRITTEN:
        return "POST", WRITTEN[name]
    raise not_served(f"Rocket.Chat's {name}")
