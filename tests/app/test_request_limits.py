"""Limits of request size, rate and duration."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.sites import YES, Site, problem
from worksample.app import AppConfig
from worksample.app.server.middleware.rate_limit import RateLimit

SMALL = replace(AppConfig(), request_bytes=2_000, import_bytes=5_000, body_seconds=0.15, writes_per_minute=8)
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, SMALL, agents=1, projects=1)


async def drip(parts: list[bytes], seconds: float) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
        await asyncio.sleep(seconds)


async def test_too_large_body_is_not_read(site: Site) -> None:
    async with site.browser("ann") as ann:
        body = b'{"old": "", "new": "' + b"x" * 2_000 + b'"}'
        problem(await ann.send("PUT", "/me/password", headers=JSON, content=body), 413)
        # One that does not say how large it is.
        chunks = drip([b"x" * 500] * 5, 0)
        problem(await ann.send("PUT", "/me/password", headers=JSON, content=chunks), 413)
        for said in ("99999999999999999999", "-1", "2e3", ""):
            problem(await ann.send("PUT", "/me/password", headers={**JSON, "Content-Length": said}, content=b"{}"), 413)


async def test_too_slow_body_is_dropped(site: Site) -> None:
    async with site.browser("ann") as ann:
        slow = drip([b"{", b" ", b" ", b"}"], 0.1)
        problem(await ann.send("PUT", "/me/password", headers=JSON, content=slow), 408)
        quick = drip([b'{"old": "", ', b'"new": "a password of some words"}'], 0.01)
        assert (await ann.send("PUT", "/me/password", headers=JSON, content=quick)).status_code == 200


async def test_import_size_needs_a_session(site: Site) -> None:
    body = b'{"data": "' + b"x" * 3_000 + b'"}'
    async with site.browser("root", "admin") as root, site.browser() as nobody:
        problem(await root.send("POST", "/imports", headers=JSON, content=body), 400)
        problem(await root.send("POST", "/imports", headers=JSON, content=body * 2), 413)
        nobody.client.cookies.set("ws", "guessed", domain="ws.localhost")
        from worksample.app.server.middleware.cookies import csrf_of

        nobody.csrf = csrf_of("guessed")
        problem(await nobody.send("POST", "/imports", headers=JSON, content=body), 413)
        problem(await root.send("PUT", "/me/profile", headers=JSON, content=body), 413)


async def test_writes_are_rate_limited_and_reads_are_not(site: Site) -> None:
    site.desk.open()
    async with site.browser("ann") as ann, site.browser("bob") as bob:
        item = await ann.claim()
        answers = [await ann.post(f"/items/{item['id']}/heartbeat") for _ in range(12)]
        refused = answers[-1]
        problem(refused, 429, "TooMany")
        assert 1 <= int(refused.headers["retry-after"]) <= 61
        assert [a.status_code for a in answers] == [200] * 7 + [429] * 5
        assert (await ann.get("/queues")).status_code == 200
        assert (await bob.claim())["id"], "others are not held up"


async def test_too_long_addresses_are_refused(site: Site) -> None:
    async with site.browser("ann") as ann:
        for path in (f"/items/{'a' * 9_000}", f"/queues?{'a' * 9_000}"):
            assert (await ann.get(path)).status_code == 414
        problem(await ann.get(f"/items/{'a' * 101}"), 400)


async def test_unexpected_error_reveals_nothing(site: Site) -> None:
    """Whatever goes wrong inside is told to the log, not to who asked."""
    site.desk.open()
    async with site.browser("ann") as ann:
        item = await ann.claim()
        site.desk.store.database.engine.dispose()
        broken: Any = site.services.people
        kept, broken.leasing = broken.leasing, None
        answer = await ann.post(f"/items/{item['id']}/heartbeat")
        error = problem(answer, 500, "Bug")
        assert error["what"] == "the server failed to answer this request; its log says why"
        assert "content-security-policy" in answer.headers
        broken.leasing = kept
        assert (await ann.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"})).status_code == 200


def test_rate_limit_expires_after_a_minute_and_is_bounded() -> None:
    now = [0.0]
    rate = RateLimit(2, lambda: now[0])
    assert [rate.take("a"), rate.take("a"), rate.take("b")] == [0, 0, 0]
    assert rate.take("a") == 61
    now[0] = 59.5
    assert rate.take("a") == 1
    now[0] = 60.0
    assert rate.take("a") == 0
    rate.give_back("a")
    assert [rate.take("a"), rate.take("a")] == [0, 0] and rate.take("a") > 0
    for n in range(25_000):
        rate.take(f"name {n}")
    assert len(rate._events) == 20_000
