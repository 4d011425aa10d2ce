"""Rocket.Chat's API methods by name, with the functions that fulfil them by the chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..http_messages import DialectRefused, bounded_number, not_served
from .view import RocketChatView

Verb = Callable[[RocketChatView, Mapping[str, Any]], dict[str, Any]]


def _page_json(key: str, found: list[dict[str, Any]], given: Mapping[str, Any], usual: int = 50) -> dict[str, Any]:
    offset, count = (
        bounded_number(given.get("offset", 0), 0, 1 << 30),
        bounded_number(given.get("count", usual), usual, 1 << 30),
    )
    part = found[offset : offset + count] if count else found[offset:]
    return {key: part, "count": len(part), "offset": offset, "total": len(found)}


def _me(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    return {**asker.person(asker.name), "emails": []}


def _users(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("query") or given.get("fields") or given.get("sort"):
        raise not_served("users.list with query, fields or sort")
    return _page_json("users", asker.people(), given)


def _user(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"user": asker.person(str(given.get("userId") or given.get("username") or ""))}


def _in_role(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    role = str(given.get("role") or "")
    if not role:
        raise DialectRefused(400, 'Query param "role" is required')
    if role in ("owner", "moderator", "leader"):
        rooms = [asker.room(given)] if given.get("roomId") else asker.rooms()
        inside = {who for one in rooms for who in asker.ask("GET", f"/api/rooms/{one['node']}/roles")[role]}
        return _page_json("users", [one for one in asker.people() if one["username"] in inside], given)
    if role not in ("user", "admin") or given.get("roomId"):
        raise not_served(f"the role {role}")
    return _page_json("users", [one for one in asker.people() if role in one["roles"]], given)


def _im_list(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    return _page_json("ims", asker.conversations(), given)


def _im_history(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    other = asker.partner(str(given.get("roomId", "")))
    room = asker.conversation(other)["_id"]
    return {"messages": asker.messages(f"/api/direct/{other}", room, given)}


def _im_create(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    names = [
        one.strip() for one in str(given.get("username") or given.get("usernames") or "").split(",") if one.strip()
    ]
    if len(names) != 1:
        raise (
            not_served("a direct conversation of more than two")
            if names
            else DialectRefused(400, "a username is required")
        )
    return {"room": asker.conversation(str(asker.person(names[0])["username"]))}


def _im_members(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    other = asker.partner(str(given.get("roomId", "")))
    return _page_json("members", [asker.person(other), asker.person(asker.name)], given)


def _channels(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    return _page_json("channels", asker.rooms(), given)


def _groups(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    return _page_json("groups", [one for one in asker.rooms() if one["t"] == "p"], given)


def _channel(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    found = asker.room(given)
    return {"channel": found, "group": found, "room": found}


def _history(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    room = asker.room(given)
    return {"messages": asker.messages(f"/api/rooms/{room['node']}", room["_id"], given)}


def _members(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    inside = asker.ask("GET", f"/api/rooms/{asker.room(given)['node']}/members")["members"]
    return _page_json("members", [one for one in asker.people() if one["username"] in inside], given)


def _create(asker: RocketChatView, given: Mapping[str, Any], closed: bool = False) -> dict[str, Any]:
    members = given.get("members") or []
    if not isinstance(members, list):
        raise DialectRefused(400, "members must be a list")
    body = {"name": str(given.get("name", "")), "closed": closed, "members": [str(one) for one in members]}
    asker.ask("POST", "/api/rooms", body)
    return _channel(asker, {"roomName": body["name"]})


def _create_group(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    return _create(asker, given, closed=True)


def _member_change(verb: str) -> Verb:
    def change(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
        room = asker.room(given)
        who = asker.person(str(given.get("userId") or given.get("username") or ""))["username"]
        asker.ask("POST", f"/api/rooms/{room['node']}/members", {verb: who})
        return {"channel": room, "group": room}

    return change


def _role_change(role: str, on: bool) -> Verb:
    def change(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
        room = asker.room(given)
        who = asker.person(str(given.get("userId") or given.get("username") or ""))["username"]
        asker.ask("POST", f"/api/rooms/{room['node']}/roles", {"role": role, "who": who, "on": on})
        return {"channel": room, "group": room}

    return change


def _roles(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    room = asker.room(given)
    found = asker.ask("GET", f"/api/rooms/{room['node']}/roles")
    rows = [
        {"rid": room["_id"], "u": {key: one[key] for key in ("_id", "username", "name")}, "roles": own}
        for one in asker.people()
        if (own := [role for role in ("owner", "moderator", "leader") if one["username"] in found[role]])
    ]
    return {"roles": rows}


def _create_user(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    name = str(given.get("username") or "")
    body = {"id": name.lower(), "name": str(given.get("name") or name), "password": str(given.get("password") or "")}
    asker.ask("POST", "/api/people", {**body, "bio": str(given.get("bio") or "")})
    return {"user": asker.person(body["id"])}


def _update_user(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    data = given.get("data")
    if not isinstance(data, dict):
        raise DialectRefused(400, "data is required")
    if other := sorted(data.keys() - {"name", "bio"}):
        raise not_served(f"another {other[0]} of a person")
    who = asker.person(str(given.get("userId") or ""))["username"]
    asker.ask("POST", f"/api/people/{who}", data)
    return {"user": asker.person(str(who))}


def _delete_user(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    who = asker.person(str(given.get("userId") or given.get("username") or ""))["username"]
    asker.ask("POST", f"/api/people/{who}", {"removed": True})
    return {}


def _topic(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    room, topic = asker.room(given), str(given.get("topic", given.get("description", "")))
    asker.ask("POST", f"/api/rooms/{room['node']}/topic", {"topic": topic})
    return {"topic": topic}


def _post(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    place, text = str(given.get("roomId") or given.get("channel") or ""), given.get("text")
    return {"message": _send_message(asker, place, text), "channel": place}


def _send(asker: RocketChatView, given: Mapping[str, Any]) -> dict[str, Any]:
    message = given.get("message")
    message = json.loads(message) if isinstance(message, str) else message
    if not isinstance(message, dict):
        raise DialectRefused(400, 'The "message" parameter must be provided.')
    if message.get("tmid"):
        raise not_served("threads")
    return {"message": _send_message(asker, str(message.get("rid", "")), message.get("msg"))}


def _send_message(asker: RocketChatView, place: str, text: object) -> dict[str, Any]:
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
        path, room = f"/api/rooms/{found['node']}", found["_id"]
    asker.ask("POST", path, {"text": text})
    return asker.messages(path, room, {"count": 1})[0]


READ: dict[str, Verb] = {
    "me": _me, "users.list": _users, "users.info": _user, "roles.getUsersInRole": _in_role,
    "im.list": _im_list, "im.history": _im_history, "im.messages": _im_history, "im.members": _im_members,
    "channels.list": _channels, "channels.list.joined": _channels, "channels.info": _channel,
    "channels.history": _history, "channels.messages": _history, "channels.members": _members,
    "groups.list": _groups, "groups.info": _channel, "groups.history": _history, "groups.messages": _history,
    "groups.members": _members, "rooms.info": _channel, "channels.roles": _roles, "groups.roles": _roles,
}  # fmt: skip
WRITTEN: dict[str, Verb] = {
    "im.create": _im_create, "chat.postMessage": _post, "chat.sendMessage": _send,
    "channels.create": _create, "channels.invite": _member_change("add"), "channels.kick": _member_change("remove"),
    "channels.setTopic": _topic, "channels.setDescription": _topic,
    "channels.addOwner": _member_change("owner"), "channels.removeOwner": _member_change("member"),
    "groups.create": _create_group, "groups.invite": _member_change("add"), "groups.kick": _member_change("remove"),
    "groups.setTopic": _topic, "groups.addOwner": _member_change("owner"),
    **{f"{kind}.{verb}{role.title()}": _role_change(role, verb == "add")
       for kind in ("channels", "groups") for verb in ("add", "remove") for role in ("moderator", "leader")},
    "users.create": _create_user, "users.update": _update_user, "users.delete": _delete_user,
}  # fmt: skip


def find_method(name: str) -> tuple[str, Verb]:
    """Return the HTTP method and the function of an API method. Raises DialectRefused (501) if the name is unknown."""
    name = name.replace("dm.", "im.", 1) if name.startswith("dm.") else name
    if name in READ:
        return "GET", READ[name]
    if name in WRITTEN:
        return "POST", WRITTEN[name]
    raise not_served(f"Rocket.Chat's {name}")
