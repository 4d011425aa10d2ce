"""ownCloud's and Rocket.Chat's APIs over the workplace's services: responses, permissions and refusals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from worksample.box import Box, BoxConfig, Endpoint
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.services import TrialServices, open_services
from worksample.tasks.workplace_settings import WORKPLACE, endpoints_of_workplace
from worksample.workplace.workplace import (
    LiveWorkplace,
    reset_services,
    seed_of_folder,
    services_box,
    workplace_over_state,
)

pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.thorough(
        quick="workplace/test_chat_dialects_without_services.py::test_colleagues_answer_cannot_be_faked"
    ),
    pytest.mark.long(seconds=30),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SERVICES, DIALECTS = ("chat", "files"), ("rocketchat", "owncloud")
ME = "theagentcompany:theagentcompany"
COMPANY = """
name = "Agents"
today = 2026-03-02T09:00:00
[[person]]
id = "theagentcompany"
name = "The Agent"
role = "Assistant"
password = "theagentcompany"
[[person]]
id = "david_wong"
name = "David Wong"
role = "Finance Director"
password = "of-david-alone"
[[person]]
id = "li_ming"
name = "Li Ming"
role = "Manager"
"""


def company(folder: Path, messages: int = 0) -> Path:
    """A company of three people, with a folder of documents."""
    (folder / "channels").mkdir(parents=True)
    (folder / "company.toml").write_text(COMPANY)
    said = "".join(
        f'[[message]]\nat = 2026-01-01T00:{n // 60:02}:{n % 60:02}\nby = "li_ming"\ntext = "line {n}"\n'
        for n in range(messages)
    )
    (folder / "channels/general.toml").write_text('topic = "All"\n' + said)
    (folder / "channels/board.toml").write_text('members = ["david_wong"]\n')
    inside = folder / "files/Documents/Human Resources Team"
    inside.mkdir(parents=True)
    (inside / "a & b.txt").write_text("of the team\n")
    return folder


@asynccontextmanager
async def opened(root: Path) -> AsyncIterator[tuple[TrialServices, LiveWorkplace, Box]]:
    """The services in both dialects, and an agent's box that reaches them by name."""
    seed = await asyncio.to_thread(seed_of_folder, root, SERVICES)
    workplace = workplace_over_state(SERVICES, seed.state, "test", accounts=seed.accounts, dialects=DIALECTS)
    places = {Endpoint(one.name, one.port): one.to for one in endpoints_of_workplace(SERVICES, DIALECTS)}
    async with (
        open_services((workplace.box,), "bubblewrap") as services,
        open_box(BoxConfig(network="endpoints", endpoints=tuple(places))) as box,
        serve_endpoints(box, {place: services.target(to) for place, to in places.items()}),
    ):
        yield services, workplace, box


ASK = """
import base64, json, sys, urllib.error, urllib.request
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None
opener = urllib.request.build_opener(Stay)
for method, url, who, body, head in json.loads(sys.argv[1]):
    if who: head["Authorization"] = "Basic " + base64.b64encode(who.encode()).decode()
    asked = urllib.request.Request(url, body.encode() if body else None, head, method=method)
    try:
        with opener.open(asked, timeout=300) as answer:
            found = [answer.status, answer.read().decode("utf-8", "replace"), dict(answer.headers)]
    except urllib.error.HTTPError as error:
        found = [error.code, error.read().decode("utf-8", "replace"), dict(error.headers)]
    print(json.dumps(found))
"""
Said = tuple[int, str, dict[str, str]]


async def ask(
    box: Box, method: str, url: str, who: str = "", body: str = "", head: dict[str, str] | None = None
) -> Said:
    done = await box.run(["python3", "-c", ASK, json.dumps([(method, url, who, body, head or {})])])
    assert done.returncode == 0, done.stderr.decode()
    status, text, heads = json.loads(done.stdout)
    return status, text, heads


CHAT, CLOUD = "http://rocketchat:3000/api/v1/", "http://owncloud"


async def login(box: Box, user: str, password: str) -> dict[str, str] | None:
    """The headers of who is logged in."""
    status, text, _ = await ask(box, "POST", CHAT + "login", body=f"user={user}&password={password}")
    if status != 200:
        return None
    data = json.loads(text)["data"]
    return {"X-Auth-Token": data["authToken"], "X-User-Id": data["userId"], "Content-Type": "application/json"}


async def chat(
    box: Box, head: dict[str, str], name: str, body: dict[str, Any] | None = None, status: int = 200
) -> dict[str, Any]:
    method = "GET" if body is None else "POST"
    found, text, _ = await ask(box, method, CHAT + name, body=json.dumps(body) if body else "", head=head)
    assert found == status, f"{name}: {found} {text}"
    return dict(json.loads(text))


async def test_documents_are_served_by_webdav_and_link(tmp_path: Path) -> None:
    """Both places, a document's whole life, and a link that opens without an account and survives an export."""
    dav, mine = CLOUD + "/remote.php/webdav", CLOUD + "/remote.php/dav/files/theagentcompany"
    team = "/Documents/Human%20Resources%20Team"
    async with opened(company(tmp_path / "company")) as (services, workplace, box):
        for root in (dav, mine):
            status, text, _ = await ask(box, "PROPFIND", root + team, ME, head={"Depth": "1"})
            hrefs = [one.text for one in ElementTree.fromstring(text).iter("{DAV:}href")]
            at = root.removeprefix(CLOUD) + team
            assert (status, sorted(str(one) for one in hrefs)) == (207, [f"{at}/", f"{at}/a%20%26%20b.txt"])
        assert (await ask(box, "GET", dav + team + "/a%20%26%20b.txt", ME))[:2] == (200, "of the team\n")
        assert (await ask(box, "GET", dav + team, ME))[0] == 405
        assert (await ask(box, "PUT", dav + "/Documents/new/x.txt", ME, "x"))[0] == 409
        assert (await ask(box, "MKCOL", dav + "/Documents/new", ME))[0] == 201
        assert (await ask(box, "PUT", dav + "/Documents/new/x.txt", ME, "first"))[0] in (201, 204)
        assert (await ask(box, "PUT", mine + "/Documents/new/x.txt", ME, "second"))[0] in (201, 204)
        there = {"Destination": mine + "/Documents/new/y.txt"}
        assert (await ask(box, "MOVE", mine + "/Documents/new/x.txt", ME, head=there))[0] in (201, 204)
        assert (await ask(box, "GET", "http://files:8092/Documents/new/y.txt", ME))[:2] == (200, "second")
        assert (await ask(box, "PROPFIND", dav + "/Documents/new/x.txt", ME, head={"Depth": "0"}))[0] == 404

        shares = CLOUD + "/ocs/v1.php/apps/files_sharing/api/v1/shares"
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        status, text, _ = await ask(box, "POST", shares, ME, "shareType=3&path=/Documents/new/y.txt", form)
        link = ElementTree.fromstring(text).findtext("data/url") or ""
        assert (status, link.startswith(CLOUD + "/index.php/s/")) == (200, True), text
        page = (await ask(box, "GET", link))[1]
        assert f'href="{link}/download"' in page
        assert (await ask(box, "GET", link + "/download"))[:2] == (200, "second")
        assert (await ask(box, "GET", CLOUD + "/index.php/s/other/download"))[0] == 404
        status, text, _ = await ask(box, "GET", shares + "?format=json", "david_wong:of-david-alone")
        assert (status, json.loads(text)["ocs"]["data"]) == (200, [])

        away = (await ask(box, "GET", CLOUD + "/index.php/apps/files/?dir=/Documents/Human%20Resources%20Team"))[2]
        assert away["Location"].endswith(team + "/")
        asked = (CLOUD + "/index.php/apps/calendar", shares.replace("files_sharing", "notes"))
        for url in asked:
            assert (await ask(box, "GET", url, ME))[0] == 501
        assert (await ask(box, "POST", shares, ME, "shareType=0&path=/Documents&shareWith=li_ming", form))[0] == 501
        places = await ask(box, "GET", CLOUD + "/.worksample/refused", f"operator:{workplace.operator}")
        assert [one["path"].rsplit("/", 2)[-1] for one in json.loads(places[1])["refused"]] == [
            "calendar", "shares", "shares",
        ]  # fmt: skip
        assert (await ask(box, "GET", CLOUD + "/.worksample/refused", ME))[0] == 404
        state = services_box(services).output_path / WORKPLACE
        lines = [json.loads(line) for line in (state / "log/access.jsonl").read_text().splitlines()]
        assert {one["by"] for one in lines if one["method"] == "PROPFIND"} == {"theagentcompany"}
        assert json.loads((state / "shares/links.json").read_text())[0]["owner"] == "theagentcompany"
        await reset_services(services_box(services))
        assert not (state / "shares").exists()
        assert (await ask(box, "GET", link + "/download"))[0] == 404


@pytest.mark.parametrize("who", ["", "theagentcompany:wrong", "li_ming:", "nobody:theagentcompany", "admin:admin"])
async def test_strangers_get_nothing(who: str, tmp_path: Path) -> None:
    async with opened(company(tmp_path / "company")) as (_, _, box):
        for url in ("/remote.php/webdav/", "/remote.php/dav/files/theagentcompany/", "/ocs/v1.php/cloud/user"):
            assert (await ask(box, "PROPFIND", CLOUD + url, who))[0] == 401
        assert (await ask(box, "GET", CLOUD + "/remote.php/dav/files/david_wong/", ME))[0] == 404
        account, _, password = who.partition(":")
        assert await login(box, account, password) is None


async def test_people_conversations_and_channels_are_served(tmp_path: Path) -> None:
    """As an evaluator and a colleague of TheAgentCompany use them."""
    async with opened(company(tmp_path / "company", messages=620)) as (_, _, box):
        me, david = await login(box, *ME.split(":")), await login(box, "david_wong", "of-david-alone")
        assert me is not None
        assert david is not None
        people = await chat(box, me, "users.list?count=2&offset=1")
        assert ([one["username"] for one in people["users"]], people["total"]) == (["david_wong", "li_ming"], 3)
        assert (await chat(box, me, "im.list"))["ims"] == []
        room = (await chat(box, me, "im.create", {"username": "david_wong"}))["room"]["_id"]
        await chat(box, me, "chat.postMessage", {"roomId": room, "text": "May I ask?", "alias": "David Wong"})
        await chat(box, david, "chat.postMessage", {"channel": "@theagentcompany", "text": "You may."})
        [ims] = (await chat(box, me, "im.list"))["ims"]
        assert (ims["_id"], ims["usernames"]) == (room, ["david_wong", "theagentcompany"])
        for place in (room, david["X-User-Id"]):
            said = (await chat(box, me, f"im.history?roomId={place}&count=50"))["messages"]
            assert [(one["u"]["username"], one["msg"]) for one in said] == [
                ("david_wong", "You may."), ("theagentcompany", "May I ask?"),
            ]  # fmt: skip
        assert said[0]["u"]["name"] == "David Wong"
        assert [one["name"] for one in (await chat(box, me, "channels.list"))["channels"]] == ["general"]
        assert {one["name"] for one in (await chat(box, david, "channels.list"))["channels"]} == {"board", "general"}
        old = (await chat(box, me, "channels.history?roomName=general&count=3&offset=600"))["messages"]
        assert [one["msg"] for one in old] == ["line 19", "line 18", "line 17"]
        assert len((await chat(box, me, "channels.history?roomName=general&count=0"))["messages"]) == 620
        early = "channels.history?roomName=general&count=5&latest=2026-01-01T00:00:03.000Z"
        assert [one["msg"] for one in (await chat(box, me, early))["messages"]] == ["line 2", "line 1", "line 0"]
        await chat(box, me, "channels.create", {"name": "finance-talk", "members": ["li_ming"]})
        await chat(box, me, "channels.invite", {"roomName": "finance-talk", "userId": david["X-User-Id"]})
        members = (await chat(box, me, "channels.members?roomName=finance-talk"))["members"]
        assert sorted(one["username"] for one in members) == ["david_wong", "li_ming", "theagentcompany"]
        await chat(box, me, "chat.postMessage", {"channel": "#finance-talk", "text": "Welcome!"})
        assert [
            one["msg"] for one in (await chat(box, david, "channels.history?roomName=finance-talk"))["messages"]
        ] == ["Welcome!"]
        await chat(box, david, "channels.kick", {"roomName": "finance-talk", "userId": me["X-User-Id"]}, status=403)
        await chat(box, me, "channels.history?roomName=board", status=400)


async def test_owners_move_people_between_rooms_without_being_members(tmp_path: Path) -> None:
    """As the account of TheAgentCompany does; a member may not, and a reset makes the rooms what they were."""
    root = company(tmp_path / "company")
    (root / "channels/database.toml").write_text(
        'members = ["li_ming"]\nopen = true\nowners = ["theagentcompany", "li_ming"]\n'
    )
    (root / "channels/models.toml").write_text('members = []\nopen = true\nowners = ["theagentcompany"]\n')
    (root / "channels/vault.toml").write_text('members = ["david_wong"]\nowners = ["theagentcompany"]\n')

    async def inside(box: Box, head: dict[str, str], name: str) -> list[str]:
        members = (await chat(box, head, f"channels.members?roomName={name}"))["members"]
        return sorted(one["username"] for one in members)

    async with opened(root) as (services, _, box):
        me, david = await login(box, *ME.split(":")), await login(box, "david_wong", "of-david-alone")
        assert me is not None
        assert david is not None
        people = (await chat(box, me, "users.list"))["users"]
        li = next(one["_id"] for one in people if one["username"] == "li_ming")
        seeded = {"database": ["li_ming"], "models": [], "vault": ["david_wong"]}
        for name, members in seeded.items():
            assert await inside(box, me, name) == members
        found = {one["name"]: one["t"] for one in (await chat(box, me, "channels.list"))["channels"]}
        assert found == {"database": "c", "general": "c", "models": "c", "vault": "p"}
        await chat(box, david, "chat.postMessage", {"channel": "#models", "text": "I am no member."})
        await chat(box, david, "channels.kick", {"roomName": "database", "userId": li}, status=403)
        await chat(box, me, "channels.kick", {"roomName": "database", "userId": li})
        await chat(box, me, "channels.invite", {"roomName": "models", "userId": li})
        await chat(box, me, "channels.invite", {"roomName": "vault", "userId": me["X-User-Id"]})
        await chat(box, me, "channels.setTopic", {"roomName": "vault", "topic": "Keys"})
        moved = {"database": [], "models": ["li_ming"], "vault": ["david_wong", "theagentcompany"]}
        for name, members in moved.items():
            assert await inside(box, me, name) == members
        await reset_services(services_box(services))
        again = await login(box, *ME.split(":"))
        assert again is not None
        for name, members in seeded.items():
            assert await inside(box, again, name) == members


async def test_tokens_and_names_cannot_be_forged(tmp_path: Path) -> None:
    """Also the paper's own example: an account that is renamed to answer as somebody else."""
    async with opened(company(tmp_path / "company")) as (services, _, box):
        me, david = await login(box, *ME.split(":")), await login(box, "david_wong", "of-david-alone")
        assert me is not None
        assert david is not None
        forged = [
            {**me, "X-User-Id": david["X-User-Id"]},
            {**me, "X-Auth-Token": me["X-Auth-Token"][:-1] + ("a" if me["X-Auth-Token"][-1] != "a" else "b")},
            {**me, "X-Auth-Token": ""},
            {**me, "X-Auth-Token": "theagentcompany"},
        ]
        for head in forged:
            await chat(box, head, "im.list", status=401)
        changes = {"userId": me["X-User-Id"], "data": {"name": "David Wong"}}
        # Nobody administers this company.
        for name, status in (("update", 403), ("create", 403), ("delete", 403), ("setUsername", 501)):
            await chat(box, me, f"users.{name}", {**changes, "username": "li_ming"}, status=status)
        shown = (await chat(box, me, "users.list"))["users"]
        assert [one["name"] for one in shown if one["username"] == "theagentcompany"] == ["The Agent"]
        await chat(box, me, "im.history?roomId=nothing", status=400)
        assert (await ask(box, "POST", CHAT + "chat.postMessage", body="[1", head=me))[0] == 400
        await reset_services(services_box(services))
        await chat(box, me, "im.list", status=401)


async def test_administrator_changes_people_roles_and_named_channels(tmp_path: Path) -> None:
    root = company(tmp_path / "company")
    (root / "company.toml").write_text(COMPANY.replace('role = "Assistant"', 'role = "Assistant"\nadmin = true', 1))
    async with opened(root) as (_, _, box):
        me = await login(box, "theagentcompany", "theagentcompany")
        david = await login(box, "david_wong", "of-david-alone")
        assert me is not None
        assert david is not None
        new = {"username": "dandan_liu", "name": "DanDan Liu", "password": "of-dandan", "email": "d@example.com"}
        await chat(box, david, "users.create", new, status=403)
        await chat(box, me, "users.create", new)
        assert await login(box, "dandan_liu", "of-dandan") is not None
        await chat(box, me, "users.create", new, status=409)
        made = (await chat(box, me, "channels.create", {"name": "Group2"}))["channel"]
        assert made["name"] == "Group2"
        room = {"roomId": made["_id"]}
        who = {
            name: (await chat(box, me, f"users.info?username={name}"))["user"]["_id"]
            for name in ("li_ming", "dandan_liu")
        }
        await chat(box, me, "channels.addModerator", {**room, "userId": who["li_ming"]}, status=400)  # no member yet
        await chat(box, me, "channels.invite", {**room, "userId": who["li_ming"]})
        await chat(box, me, "channels.addModerator", {**room, "userId": who["li_ming"]})
        await chat(box, me, "channels.addLeader", {**room, "userId": who["li_ming"]})
        await chat(box, david, "channels.removeLeader", {**room, "userId": who["li_ming"]}, status=403)
        for role in ("moderator", "leader"):
            found = (await chat(box, me, f"roles.getUsersInRole?role={role}"))["users"]
            assert [one["username"] for one in found] == ["li_ming"]
        await chat(box, me, "chat.postMessage", {"channel": "#Group2", "text": "Hello"})
        assert (await chat(box, me, "channels.history?roomName=Group2"))["messages"][0]["msg"] == "Hello"
        await chat(box, me, "users.update", {"userId": who["li_ming"], "data": {"bio": "In the AI team"}})
        assert (await chat(box, me, "users.info?username=li_ming"))["user"]["bio"] == "In the AI team"
        await chat(box, me, "users.delete", {"userId": who["li_ming"]})
        await chat(box, me, "users.info?username=li_ming", status=400)
        assert (await chat(box, me, "channels.members?roomName=Group2"))["total"] == 1
        assert await login(box, "li_ming", "x") is None
