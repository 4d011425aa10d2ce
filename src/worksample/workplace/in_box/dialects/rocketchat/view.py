"""The chat as one person sees it, in Rocket.Chat's form."""

from __future__ import annotations

import hashlib
import urllib.parse
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..backend import Backend
from ..http_messages import DialectRefused, bounded_number

PAGE = 500
"""Maximum messages that the chat returns in one answer."""
MOST_BACK = 50_000
"""Maximum messages that are read from the chat for one request."""
ADMIN = "theagentcompany"
"""Account that the dialect shows with the role admin. Tasks of TheAgentCompany look for this account."""


def identity(kind: str, name: str) -> str:
    """Return the id of a person or room. The id is the same in every workplace, and it is not secret."""
    return hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()[:17]


class RocketChatView:
    """The chat as one person sees it, in Rocket.Chat's form."""

    def __init__(self, name: str, who: str, chat: Backend) -> None:
        self.name, self._who, self._chat = name, who, chat

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request to the chat and return the answer. Raises DialectRefused if the chat refuses it."""
        status, found = self._chat.json(method, path, self._who, body)
        if status >= 400 or not isinstance(found, dict):
            why = found.get("error", "") if isinstance(found, dict) else ""
            raise DialectRefused(status if 400 <= status < 500 else 502, why or "the chat does not answer")
        return found

    def people(self) -> list[dict[str, Any]]:
        """Return all people in Rocket.Chat's form."""
        return [
            {
                "_id": identity("person", one["id"]), "username": one["id"], "name": one["name"], "type": "user",
                "nameInsensitive": one["name"].lower(), "status": "offline", "active": True,
                "roles": ["user", "admin"] if one.get("admin") or one["id"] == ADMIN else ["user"],
                **({"bio": one["bio"]} if one.get("bio") else {}),
            }
            for one in self.ask("GET", "/api/people")["people"]
        ]  # fmt: skip

    def person(self, name: str) -> dict[str, Any]:
        """Return a person by account or id. Raises DialectRefused (400) if nobody has it."""
        for one in self.people():
            if name in (one["username"], one["_id"]):
                return one
        raise DialectRefused(400, 'The required "userId" or "username" param provided does not match any users')

    def conversation(self, other: str) -> dict[str, Any]:
        """Return the direct conversation with the person `other` in Rocket.Chat's form."""
        ids = sorted((identity("person", self.name), identity("person", other)))
        return {
            "_id": "".join(ids),
            "rid": "".join(ids),
            "t": "d",
            "usernames": sorted((self.name, other)),
            "uids": ids,
        }

    def conversations(self) -> list[dict[str, Any]]:
        """Return all direct conversations."""
        return [self.conversation(one["with"]) for one in self.ask("GET", "/api/direct")["direct"]]

    def partner(self, place: str) -> str:
        """Return the other person of a direct conversation. `place` is the id of the conversation or of the person.
        Raises DialectRefused (400).
        """
        for one in self.people():
            if place in (one["_id"], self.conversation(one["username"])["_id"]):
                return str(one["username"])
        raise DialectRefused(400, 'The required "roomId" param does not match any direct conversation')

    def rooms(self) -> list[dict[str, Any]]:
        """Return all rooms in Rocket.Chat's form."""
        return [
            {
                "_id": identity("room", one["name"]), "name": one.get("title") or one["name"], "node": one["name"],
                "t": "p" if one.get("closed") else "c",
                "topic": one["topic"], "usersCount": one.get("members", 0), "msgs": one.get("messages", 0),
            }
            for one in self.ask("GET", "/api/rooms")["rooms"]
        ]  # fmt: skip

    def room(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a room by id or name. Raises DialectRefused (400)."""
        wanted = str(given.get("roomId") or given.get("roomName") or given.get("channel") or "").lstrip("#")
        for one in self.rooms():
            if wanted in (one["_id"], one["name"]):
                return one
        raise DialectRefused(
            400, f'The required "roomId" or "roomName" param provided does not match any channel ({wanted})'
        )

    def messages(self, path: str, room: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages of a room, newest first. `count` (by default 20; 0 for all), `offset`, `latest` and
        `oldest` have the same meaning as in Rocket.Chat.
        """
        names = {one["username"]: one["name"] for one in self.people()}
        count = bounded_number(given.get("count", 20), 20, MOST_BACK) or MOST_BACK
        wanted = min(bounded_number(given.get("offset", 0), 0, MOST_BACK) + count, MOST_BACK)
        latest, oldest = (_parse_time(given.get(key)) for key in ("latest", "oldest"))
        found: list[dict[str, Any]] = []
        before = ""
        while len(found) < wanted:
            query = {"newest": "1", "limit": str(PAGE), **({"before": before} if before else {})}
            page = self.ask("GET", f"{path}?{urllib.parse.urlencode(query)}")["messages"]
            found += [one for one in page if _is_within(one["at"], latest, oldest)]
            if len(page) < PAGE or (oldest is not None and not _is_within(page[-1]["at"], None, oldest)):
                break
            before = page[-1]["id"]
        return [_message(one, room, names) for one in found[wanted - count : wanted]]


def _parse_time(text: object) -> datetime | None:
    if not text:
        return None
    found = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _is_within(at: str, latest: datetime | None, oldest: datetime | None) -> bool:
    when = _parse_time(at)
    return when is not None and (latest is None or when < latest) and (oldest is None or when > oldest)


def _message(one: Mapping[str, Any], room: str, names: Mapping[str, str]) -> dict[str, Any]:
    by = one["by"] or ""
    at = one["at"].replace("Z", ".000Z") if "." not in one["at"] else one["at"]
    sender = {"_id": identity("person", by), "username": by, "name": names.get(by, by)}
    return {"_id": one["id"], "rid": room, "msg": one["text"], "ts": at, "_updatedAt": at, "u": sender}
