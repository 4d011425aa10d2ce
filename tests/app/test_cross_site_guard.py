"""Cross-site requests: no other page can act for a person, for every write route and each attack."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.sites import YES, Browser, Site, problem, schema
from worksample.people.quality import round_dashboard as dashboard

ENTRANCES = {"/session", "/session/link", "/invitations/accept"}
OPEN = {*ENTRANCES, "/invitations/" + "0" * 24}
EVERYBODYS = {
    "logout", "me", "set_profile", "set_password", "training", "read_training", "queues", "claim", "item", "heartbeat",
    "release", "save_draft", "mark_seen", "submit", "skip", "take_back", "own_answer", "flag", "earlier", "quiz_answer",
    "history", "flag_kinds",
}  # fmt: skip
"""Operations of an evaluator; all others are for reviewers and admins."""


def routes() -> list[tuple[str, str, str]]:
    """Method, path and name of each operation."""
    return [
        (method.upper(), re.sub(r"\{\w+\}", "0" * 24, path.removeprefix("/api/v1")), operation["operationId"])
        for path, methods in schema()["paths"].items()
        for method, operation in methods.items()
    ]


def writes() -> list[tuple[str, str]]:
    return [(method, path) for method, path, _ in routes() if method != "GET"]


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Browser]:
    site = Site(tmp_path, agents=1, projects=1)
    site.desk.open()
    async with site.browser("ann") as browser:
        yield browser


def test_write_routes_exist() -> None:
    assert len(writes()) >= 20 and {w[0] for w in writes()} == {"POST", "PUT", "PATCH", "DELETE"}
    assert {id for _, _, id in routes()} >= EVERYBODYS


async def test_writes_need_the_sessions_csrf_token(ann: Browser) -> None:
    async with ann.site.browser("bob") as bob:
        for method, path in writes():
            if path in ENTRANCES:
                continue
            for shown in (None, "", "x", ann.csrf[:-1], ann.csrf.upper(), bob.csrf, "é" * 64):
                raw = shown.encode("latin-1") if shown is not None else None
                answer = await ann.send(method, path, {}, {"X-CSRF-Token": raw})  # type: ignore[dict-item]
                assert problem(answer, 403, "Denied")["what"].startswith("the X-CSRF-Token"), (method, path, shown)


@pytest.mark.parametrize(
    "origin",
    [
        "null", "https://ws.localhost:8765", "http://ws.localhost", "http://ws.localhost:8766",
        "http://v.ws.localhost:8765", f"http://{'a' * 52}.c.ws.localhost:8765", "http://evil.example",
        "http://ws.localhost:8765.evil.example", "",
    ],
)  # fmt: skip
async def test_writes_from_another_origin_are_refused(ann: Browser, origin: str) -> None:
    for method, path in writes():
        problem(await ann.send(method, path, {}, {"Origin": origin, "Sec-Fetch-Site": None}), 403, "Denied")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "Same-Origin"])
async def test_requests_from_another_site_are_refused(ann: Browser, site: str) -> None:
    """Same-site is a deliverable's page: its requests would carry the cookie."""
    for method, path, _ in routes():
        problem(await ann.send(method, path, {}, {"Sec-Fetch-Site": site}), 403, "Denied")


@pytest.mark.parametrize(
    "type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", None,
             "application/jsonp", "text/plain; application/json"]
)  # fmt: skip
async def test_form_encoded_bodies_are_refused(ann: Browser, type: str | None) -> None:
    for method, path in writes():
        answer = await ann.send(method, path, headers={"Content-Type": type}, content=b'{"a": 1}')
        problem(answer, 415, "UsageError")


async def test_requests_without_a_session_are_refused(ann: Browser) -> None:
    async with ann.site.browser() as nobody:
        for method, path, _ in routes():
            if path not in OPEN:
                problem(await nobody.send(method, path, {}), 401, "SignedOut")
        # A cookie that is no session's, with the token that would go with it.
        from worksample.app.server.middleware.cookies import csrf_of

        nobody.client.cookies.set("ws", "guessed", domain="ws.localhost")
        nobody.csrf = csrf_of("guessed")
        for method, path, _ in routes():
            if path not in OPEN and method == "GET":
                problem(await nobody.send(method, path), 401, "SignedOut")
        problem(await nobody.post("/claims", {}), 401, "SignedOut")


async def test_evaluator_cannot_use_admin_routes(ann: Browser) -> None:
    for method, path, id in routes():
        if path in OPEN or id in EVERYBODYS:
            continue
        answer = await ann.send(method, path, {})
        # Some are refused for their body first; none is answered.
        assert answer.status_code in (400, 403), (method, path, answer.status_code, answer.text)
        if method == "GET":
            problem(answer, 403, "Denied")


async def test_planted_cookie_neither_signs_out_nor_takes_over(ann: Browser) -> None:
    """A deliverable's page may set a cookie of the same name for the whole domain, before or after ours."""
    own = ann.client.cookies["ws"]
    ann.client.cookies.clear()
    async with ann.site.browser("eve") as eve:
        theirs = eve.client.cookies["ws"]
    for cookies in (f"ws=planted; ws={own}", f"ws={own}; ws=planted", f'a=b; ws="{own}"'):
        assert (await ann.get("/me", headers={"Cookie": cookies})).json()["account"]["name"] == "ann"
        assert (await ann.post("/claims", {}, headers={"Cookie": cookies})).status_code == 200
    for cookies in (f"ws={own}; ws={theirs}", f"ws={theirs}; ws={own}"):
        # Two sessions that are both good: whose words are these?
        problem(await ann.get("/me", headers={"Cookie": cookies}), 401, "SignedOut")
        problem(await ann.post("/claims", {}, headers={"Cookie": cookies}), 401, "SignedOut")
    many = "; ".join([*(f"ws=planted{n}" for n in range(10)), f"ws={own}"])
    problem(await ann.get("/me", headers={"Cookie": many}), 401)


async def test_refused_requests_have_no_effect(ann: Browser) -> None:
    item = await ann.claim()
    for headers in ({"X-CSRF-Token": None}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "same-site"}):
        await ann.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"}, headers=headers)
        await ann.put(f"/items/{item['id']}/draft", {"revision": 0, "payload": {"a": 1}}, headers=headers)
    assert (await ann.get(f"/items/{item['id']}")).json()["draft"] is None
    assert dashboard.progress(ann.site.desk.people.store, item["round"]).given == 0


async def test_other_pages_cannot_read_responses(ann: Browser) -> None:
    for path in ("/me", "/queues", "/training"):
        response = await ann.get(path, headers={"Origin": "http://v.ws.localhost:8765"})
        assert not {h for h in response.headers if h.startswith("access-control-")}
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
    preflight = await ann.send("OPTIONS", "/claims", headers={"Access-Control-Request-Method": "POST"})
    assert preflight.status_code in (403, 405) and "access-control-allow-origin" not in preflight.headers
