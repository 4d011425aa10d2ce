"""Bodies sent by browsers and viewers: reports of blocked requests, queries, endless bodies."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import httpx

from app.content_origin.answers import guarded
from app.content_origin.hosts import Shelf, viewed
from worksample.app.content_origin import content_app


async def test_blocked_requests_are_recorded_within_limits(shelf: Shelf) -> None:
    async with shelf.open({"index.html": "x"}, hidden=("maker-1",)) as client:
        there = "/.worksample/blocked"

        async def report(url: Any, directive: Any = "script-src-elem") -> int:
            body = {"csp-report": {"blocked-uri": url, "effective-directive": directive}}
            return (await client.post(there, json=body)).status_code

        for url in ("https://cdn.test/a.js", "https://cdn.test/a.js", "inline", "data", "blob", "wss://x.test/maker-1"):
            assert await report(url) == 204
        assert (await client.get(there)).json() == {
            "blocked": [
                {"url": "https://cdn.test/a.js", "directive": "script-src-elem"},
                {"url": "wss://x.test/█████", "directive": "script-src-elem"},
            ]
        }
        # Another file of the pane has nothing to do with what came before it.
        since = (await viewed(client, "index.html"))["at"]
        assert (await client.get(f"{there}?since={since}")).json() == {"blocked": []}
        assert await report("https://cdn.test/a.js") == 204
        assert [r["url"] for r in (await client.get(f"{there}?since={since}")).json()["blocked"]] == [
            "https://cdn.test/a.js"
        ]
        assert len((await client.get(there)).json()["blocked"]) == 2
        for wrong in ("", "-1", "x", "1.5", "9" * 20, "٣"):
            assert (await client.get(there, params={"since": wrong})).status_code == 400
        for number in range(300):
            await report(f"https://cdn.test/{number}{'x' * 400}\n", "y" * 900)
        rows = (await client.get(there)).json()["blocked"]
        assert len(rows) == 200 and all(len(r["url"]) <= 300 and len(r["directive"]) <= 40 for r in rows)
        assert rows[-1]["url"].startswith("https://cdn.test/299")
        for body in (b"", b"[]", b"{}", b'{"csp-report": 1}', b"\xff", b"[" * 20_000):
            assert (await client.post(there, content=body)).status_code == 400
        assert (await client.post(there, content=b"x" * 40_000)).status_code == 413
    async with shelf.client(shelf.taken({"index.html": "y"}), pane="AD-2") as other:
        assert (await other.get(there)).json() == {"blocked": []}


async def test_query_body_must_be_valid(shelf: Shelf) -> None:
    async with shelf.open({"a.db": "no database", "b.txt": "x"}) as client:
        there = "/.worksample/query"
        good = {"path": ["a.db"], "sql": "SELECT 1"}
        for body in (
            {}, [], {"path": "a.db", "sql": "x"}, {"path": ["a.db"], "sql": ""}, {"path": ["a.db"], "sql": 1},
            {"path": [1], "sql": "x"}, {**good, "sql": "x" * 20_001}, {"path": ["a.db"] * 9, "sql": "x"},
        ):  # fmt: skip
            assert (await client.post(there, json=body)).status_code == 400, body
        assert (await client.post(there, json={**good, "path": ["no.db"]})).status_code == 404
        assert (await client.post(there, content=json.dumps(good))).status_code == 415
        assert (await client.post(there, json={**good, "x": "y" * 200_000})).status_code == 413
        own = {"origin": str(client.base_url).rstrip("/")}
        for origin in (own, {"origin": "null"}, {"origin": "http://evil.test"}):
            assert (await client.post(there, json=good, headers=origin)).status_code == 403


async def test_slow_and_endless_bodies_are_dropped(shelf: Shelf) -> None:
    label = shelf.label(shelf.taken({"a.db": "x"}))

    async def stalled() -> Any:
        yield b"{"
        await asyncio.Event().wait()

    async def endless() -> Any:
        while True:
            yield b"x" * 10_000

    async def answered(body: Any, path: str, seconds: float) -> int:
        services = dataclasses.replace(shelf.services, config=dataclasses.replace(shelf.config, body_seconds=seconds))
        transport = httpx.ASGITransport(content_app(services))
        async with httpx.AsyncClient(transport=transport, base_url=shelf.config.content_origin(label)) as client:
            headers = {"content-type": "application/json"}
            async with asyncio.timeout(300):
                return (await client.post(path, content=body, headers=headers)).status_code

    for path in ("/.worksample/query", "/.worksample/blocked"):
        assert await answered(stalled(), path, 0.2) == 408
        # On a busy machine two tenths are over before the first part came: what has no end is given all the time.
        assert await answered(endless(), path, 600) == 413


async def test_store_error_is_hidden_and_keeps_security_policy(shelf: Shelf) -> None:
    manifest = shelf.taken({"a.txt": "x" * 100})
    blob = shelf.store.manifest(manifest).entries[0].blob
    assert blob is not None
    shelf.store.blobs.path(blob).unlink()
    async with shelf.client(manifest) as client, shelf.client("0" * 64, pane="AD-2") as gone:
        for response in (
            await client.get("/a.txt"),
            await client.get("/.worksample/original?path=a.txt"),
            await gone.get("/"),
        ):
            assert response.status_code == 404 and str(shelf.folder) not in response.text and blob not in response.text
            guarded(response)
