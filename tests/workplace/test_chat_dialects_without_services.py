"""Dialects of chat and documents, over a chat in this process and without documents."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from worksample.tasks.workplace_settings import endpoints_of_workplace
from worksample.workplace.in_box.dialects.backend import Backend
from worksample.workplace.in_box.dialects.http_messages import DialectRequest
from worksample.workplace.in_box.dialects.owncloud import OwnCloud
from worksample.workplace.in_box.dialects.rocketchat.api import RocketChat
from worksample.workplace.in_box.dialects.server import REFUSED, DialectFront

PASSWORDS = {"theagentcompany": "mine", "david_wong": "his"}
NAMES = {"theagentcompany": "The Agent", "david_wong": "David Wong"}


class Talk(BaseHTTPRequestHandler):
    """The chat's plain face, as far as direct conversations go."""

    said: list[tuple[str, str, str]]

    def log_message(self, format: str, *words: Any) -> None:
        pass

    def do_GET(self) -> None:
        who = base64.b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode().split(":")
        if PASSWORDS.get(who[0]) != who[1]:
            return self.tell(401, {"error": "who?"})
        parts = urlsplit(self.path)
        other = parts.path.removeprefix("/api/direct/")
        if self.command == "POST":
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.said.append((who[0], other, body["text"]))
            return self.tell(201, {"to": other})
        if parts.path == "/api/people":
            return self.tell(200, {"people": [{"id": one, "name": name} for one, name in NAMES.items()]})
        if parts.path == "/api/rooms":
            return self.tell(200, {"rooms": []})
        if parts.path == "/api/direct":
            with_ = {one for by, to, _ in self.said for one in (by, to) if who[0] in (by, to)} - {who[0]}
            return self.tell(200, {"direct": [{"with": one} for one in sorted(with_)]})
        mine = [
            {"id": str(n), "at": f"2026-03-02T09:00:{n % 60:02}Z", "by": by, "text": text}
            for n, (by, to, text) in enumerate(self.said)
            if {by, to} == {who[0], other}
        ]
        query = parse_qs(parts.query)
        before = int(query.get("before", [str(len(self.said))])[0])
        return self.tell(200, {"messages": [one for one in reversed(mine) if int(str(one["id"])) < before][:500]})

    do_POST = do_GET

    def tell(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def talking(said: list[tuple[str, str, str]]) -> Iterator[RocketChat]:
    handler = type("Handler", (Talk,), {"said": said})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield RocketChat(Backend(server.server_address[1], "workplace"))
    finally:
        server.shutdown()
        server.server_close()


def request(method: str, path: str, body: object = None, **headers: str) -> DialectRequest:
    parts = urlsplit(path)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    heads = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    data = b"" if body is None else json.dumps(body).encode()
    return DialectRequest(
        method, parts.path, query, {"content-type": "application/json", **heads}, data, "http://rocketchat"
    )


def asked(chat: RocketChat, method: str, name: str, body: object = None, **headers: str) -> tuple[int, dict[str, Any]]:
    given = chat.answer(request(method, f"/api/v1/{name}", body, **headers))
    assert isinstance(given.body, bytes)
    return given.status, json.loads(given.body)


def login(chat: RocketChat, name: str) -> dict[str, str]:
    status, said = asked(chat, "POST", "login", {"user": name, "password": PASSWORDS[name]})
    assert status == 200
    return {"X_Auth_Token": said["data"]["authToken"], "X_User_Id": said["data"]["userId"]}


def test_everybody_is_a_user_and_impersonation_is_refused() -> None:
    with talking([]) as chat:
        me = login(chat, "david_wong")
        for role, who in (("user", ["theagentcompany", "david_wong"]), ("admin", ["theagentcompany"])):
            status, said = asked(chat, "GET", f"roles.getUsersInRole?role={role}", **me)
            assert (status, [one["username"] for one in said["users"]], said["total"]) == (200, who, len(who))
        assert asked(chat, "GET", "users.info?username=theagentcompany", **me)[1]["user"]["roles"] == ["user", "admin"]
        for role in ("owner", "moderator", "leader"):
            assert asked(chat, "GET", f"roles.getUsersInRole?role={role}", **me)[1]["total"] == 0
        said = asked(chat, "GET", "roles.getUsersInRole?role=user&roomId=x", **me)[1]
        assert said["errorType"] == "error-not-served"
        assert asked(chat, "GET", "roles.getUsersInRole", **me)[0] == 400


def test_colleagues_answer_cannot_be_faked() -> None:
    """The paper's own example: an agent that renames an account. Who said something is the account that sent it."""
    with talking([]) as chat:
        me, david = login(chat, "theagentcompany"), login(chat, "david_wong")
        assert asked(chat, "POST", "users.update", {"data": {"name": "David Wong"}}, **me)[0] == 400
        for name in ("users.setUsername", "users.updateOwnBasicInfo"):
            status, said = asked(chat, "POST", name, {"data": {"name": "David Wong"}}, **me)
            assert (status, said["errorType"]) == (501, "error-not-served")
        posted = {
            "channel": "@david_wong",
            "text": "Yes, it is.",
            "alias": "David Wong",
            "u": {"username": "david_wong"},
        }
        assert asked(chat, "POST", "chat.postMessage", posted, **me)[0] == 200
        for head in (me, david):
            other = david if head is me else me
            _, said = asked(chat, "GET", f"im.history?roomId={other['X_User_Id']}", **head)
            assert [(one["u"]["username"], one["u"]["name"]) for one in said["messages"]] == [
                ("theagentcompany", "The Agent")
            ]
        assert asked(chat, "GET", "im.list", X_Auth_Token=me["X_Auth_Token"], X_User_Id=david["X_User_Id"])[0] == 401
        assert asked(chat, "GET", "im.list", X_Auth_Token="x", X_User_Id=me["X_User_Id"])[0] == 401
        assert asked(chat, "POST", "login", {"user": "david_wong", "password": "mine"})[0] == 401
        assert asked(chat, "POST", "logout", **me)[0] == 200
        assert asked(chat, "GET", "im.list", **me)[0] == 401


def test_long_conversations_are_read_in_pages() -> None:
    said = [("theagentcompany", "david_wong", str(n)) for n in range(1234)]
    with talking(said) as chat:
        me = login(chat, "theagentcompany")
        room = asked(chat, "POST", "im.create", {"username": "david_wong"}, **me)[1]["room"]["_id"]

        def texts(query: str) -> list[str]:
            return [one["msg"] for one in asked(chat, "GET", f"im.history?roomId={room}{query}", **me)[1]["messages"]]

        assert len(texts("")) == 20
        assert texts("&count=2&offset=1200") == ["33", "32"]
        assert len(texts("&count=0")) == 1234
        assert texts("&count=-5&offset=x")[0] == "1233"
        with pytest.raises(ValueError, match="yesterday"):  # which the front makes a 400
            asked(chat, "GET", f"im.history?roomId={room}&latest=yesterday", **me)


def test_refused_requests_are_listed_for_the_operator_only(tmp_path: Path) -> None:
    front = DialectFront({"owncloud": OwnCloud({"theagentcompany": "mine"}, tmp_path).answer}, "of-the-operator")
    mine = "Basic " + base64.b64encode(b"theagentcompany:mine").decode()
    strange = request("GET", "/ocs/v1.php/apps/notes", Authorization=mine)
    assert front.answer("owncloud", strange).status == 501
    assert front.answer("owncloud", request("GET", "/remote.php/webdav/")).status == 401
    assert front.answer("plane", strange).status == 404
    assert front.answer("owncloud", request("GET", REFUSED, Authorization=mine)).status == 404
    word = "Basic " + base64.b64encode(b"operator:of-the-operator").decode()
    told = front.answer("owncloud", request("GET", REFUSED, Authorization=word)).body
    assert isinstance(told, bytes)
    [one] = json.loads(told)["refused"]
    assert (one["dialect"], one["path"]) == ("owncloud", "/ocs/v1.php/apps/notes")
    assert "not served" in one["why"]
    nobody = DialectFront({}, "")
    empty = "Basic " + base64.b64encode(b"operator:").decode()
    assert nobody.answer("owncloud", request("GET", REFUSED, Authorization=empty)).status == 404


@pytest.mark.parametrize(
    ("services", "dialects", "found"),
    [
        (("chat",), (), [("chat", 3000, 3000)]),
        (("chat", "files"), ("owncloud",), [("chat", 3000, 3000), ("files", 8092, 8092), ("owncloud", 80, 8092)]),
    ],
)
def test_dialect_has_its_own_address(
    services: tuple[str, ...], dialects: tuple[str, ...], found: list[tuple[str, int, int]]
) -> None:
    made = endpoints_of_workplace(services, dialects)
    assert [(one.name, one.port, one.to) for one in made] == [(n, p, f"service:workplace:{to}") for n, p, to in found]
