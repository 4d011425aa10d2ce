"""Sign-in, sessions and sign-out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.sites import Site, problem
from worksample.app import AppConfig

PASS = "a password of some words"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, agents=1, projects=1)


async def test_invitation_creates_a_signed_in_account(site: Site) -> None:
    token = site.desk.people.accounts.invite(["evaluator"])
    async with site.browser() as ann:
        problem(await ann.get("/me"), 401, "SignedOut")
        found = (await ann.get(f"/invitations/{token}")).json()
        assert found["roles"] == ["evaluator"] and found["expires"] > site.desk.clock.now
        me = ann.entered(await ann.post("/invitations/accept", {"token": token, "name": "Ann", "password": PASS}))
        assert me["account"]["name"] == "Ann" and me["account"]["roles"] == ["evaluator"]
        assert me["hosts"] == {"viewer": "http://v.ws.localhost:8765", "content": "http://*.c.ws.localhost:8765"}
        assert me["training"]["read"] is False and me["token"] is None
        assert (await ann.get("/me")).json() == me
        problem(await ann.get(f"/invitations/{token}"), 403, "Denied")
        problem(await ann.post("/invitations/accept", {"token": token, "name": "Eve", "password": PASS}), 403)
    async with site.browser() as again:
        problem(await again.post("/session", {"name": "Ann", "password": "not the password"}), 403, "Denied")
        assert (
            again.entered(await again.post("/session", {"name": " ann ", "password": PASS}))["account"]["name"] == "Ann"
        )


async def test_session_cookie_is_limited_to_the_app(tmp_path: Path) -> None:
    for config, name, flags in (
        (AppConfig(), "ws", ""),
        (AppConfig(scheme="https", host="review.example.org", port=443), "__Host-ws", "; Secure"),
    ):
        site = Site(tmp_path / name, config, agents=1, projects=1)
        site.desk.hire("ann")
        async with site.browser() as ann:
            token = site.desk.people.accounts.one_time_link("ann")
            response = await ann.post("/session/link", {"token": token})
            said = response.headers["set-cookie"]
            assert said.startswith(f"{name}=")
            assert said.endswith(f"; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict{flags}")
            assert "domain" not in said.lower() and response.headers["cache-control"] == "no-store"
            assert "token" in response.json() and response.json()["token"] is None


async def test_one_time_link_works_once(site: Site) -> None:
    site.desk.hire("ann")
    token = site.desk.people.accounts.one_time_link("ann")
    async with site.browser() as first, site.browser() as second:
        first.entered(await first.post("/session/link", {"token": token}))
        problem(await second.post("/session/link", {"token": token}), 403, "Denied")
        late = site.desk.people.accounts.one_time_link("ann")
        site.desk.clock.pass_(16 * 60)
        problem(await second.post("/session/link", {"token": late}), 403, "Denied")


async def test_sign_out_ends_session_and_content_access(site: Site) -> None:
    site.desk.open()
    async with site.browser("ann") as ann:
        item = await ann.claim()
        cookie = ann.client.cookies["ws"]
        content = next(p["content"] for p in item["shown"] if p["content"])
        label = content.removeprefix("http://").partition(".")[0]
        services = site.services
        assert services.capabilities.find(label) is not None
        response = await ann.send("DELETE", "/session")
        assert response.status_code == 204 and "Max-Age=0" in response.headers["set-cookie"]
        assert services.capabilities.find(label) is None
        ann.client.cookies.set("ws", cookie, domain="ws.localhost")
        problem(await ann.get("/me"), 401)


async def test_session_ends_by_time_and_with_its_account(site: Site) -> None:
    async with site.browser("ann") as ann:
        site.desk.clock.pass_(23 * 3600)
        assert (await ann.get("/me")).status_code == 200
        site.desk.clock.pass_(25 * 3600)
        problem(await ann.get("/me"), 401)
    async with site.browser("bob") as bob:
        account = next(a for a in site.desk.people.accounts.all() if a.name == "bob")
        site.desk.people.accounts.change(account.id, None, disabled=True)
        problem(await bob.get("/me"), 401)


async def test_script_uses_bearer_token_without_cookie(site: Site) -> None:
    site.desk.open()
    site.desk.hire("ann")
    async with site.browser() as script:
        link = site.desk.people.accounts.one_time_link("ann")
        response = await script.client.post("/api/v1/session/link", json={"token": link, "bearer": True})
        assert "set-cookie" not in response.headers
        held = {"Authorization": f"Bearer {response.json()['token']}"}
        claimed = await script.client.post("/api/v1/claims", json={}, headers=held)
        assert claimed.status_code == 200
        for wrong in ("Bearer x", "Bearer ", "Basic x", f"Bearer {'a' * 5000}"):
            answer = await script.client.get("/api/v1/me", headers={"Authorization": wrong})
            problem(answer, 401)


async def test_new_password_ends_other_sessions(site: Site) -> None:
    async with site.browser("ann") as ann, site.browser("ann") as elsewhere:
        body = {"old": "", "new": PASS}
        assert (await ann.put("/me/password", body)).status_code == 200
        problem(await elsewhere.get("/me"), 401)
        ann.entered(await ann.get("/me"))
        problem(await ann.put("/me/password", {"old": "wrong", "new": "another pass phrase"}), 403)
        problem(await ann.put("/me/password", {"old": PASS, "new": "short"}), 403)


async def test_profile_is_stored_as_sent(site: Site) -> None:
    profile = {
        "domains": ["upwork:design"], "skills": ["logos"], "hours": 300.0, "earnings": None, "rating": 4.9,
        "pay_rate": 40.0,
    }  # fmt: skip
    async with site.browser("ann") as ann:
        me = (await ann.put("/me/profile", profile)).json()
        assert me["profile"] == profile and me["account"]["domains"] == ["upwork:design"]
        for wrong in ({**profile, "rating": 6}, {**profile, "extra": 1}, {**profile, "hours": "many"}):
            assert problem(await ann.put("/me/profile", wrong), 400)["faults"]
        raw = b'{"hours": NaN}'
        headers = {"Content-Type": "application/json"}
        problem(await ann.send("PUT", "/me/profile", headers=headers, content=raw), 400)


async def test_guessing_is_throttled_by_name_and_address(tmp_path: Path) -> None:
    site = Site(tmp_path, replace(AppConfig(), logins_per_minute=3), agents=1, projects=1)
    site.desk.people.accounts.accept(site.desk.people.accounts.invite(["evaluator"]), "ann", PASS)
    async with site.browser() as eve:
        right = {"name": "ann", "password": PASS}
        for _ in range(site.config.logins_per_minute + 1):
            assert (await eve.post("/session", right)).status_code == 200, "what is right does not count"
        for _ in range(site.config.logins_per_minute):
            problem(await eve.post("/session", {"name": "ann", "password": "wrong"}), 403)
        refused = await eve.post("/session", right)
        problem(refused, 429, "TooMany")
        assert 1 <= int(refused.headers["retry-after"]) <= 61
        problem(await eve.post("/session/link", {"token": "guess"}), 429)
        problem(await eve.get("/invitations/guess"), 429)


async def test_wait_for_password_hash_is_bounded(site: Site) -> None:
    from worksample.app.accounts import sign_in_throttle as throttle

    guard = throttle.SignInThrottle(site.config)
    with guard.attempt("a"), guard.attempt("b"):
        with pytest.raises(throttle.TooMany), guard.attempt("c"):
            raise AssertionError("three hashes at once")
        with guard.attempt("d", hashing=False):
            pass
    with guard.attempt("c"):
        pass


async def test_concurrent_guesses_gain_nothing(tmp_path: Path) -> None:
    import asyncio

    site = Site(tmp_path, replace(AppConfig(), logins_per_minute=3), agents=1, projects=1)
    async with site.browser() as eve:
        answers = await asyncio.gather(*(eve.post("/session/link", {"token": f"guess {n}"}) for n in range(12)))
        assert sorted(a.status_code for a in answers) == [403] * 3 + [429] * 9
