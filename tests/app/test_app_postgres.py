"""The app on PostgreSQL: two servers over one database answer alike."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.sites import YES, Site, problem
from store.test_postgres import server, url
from worksample.app import create_app
from worksample.people.quality import round_dashboard as dashboard
from worksample.store import Store

__all__ = ["server", "url"]
JSON = {"Content-Type": "application/json"}
pytestmark = pytest.mark.postgres


async def test_two_servers_on_one_database_answer_alike(url: str, tmp_path: Path) -> None:
    site = Site(tmp_path, agents=1, projects=2)
    round = site.desk.open(overlap=1)
    with Store.open(tmp_path / "s") as store:
        other = create_app(store, site.config, clock=site.desk.clock)
        async with site.browser("ann") as ann, site.browser() as elsewhere:
            transport = httpx.ASGITransport(other, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=site.config.app_origin) as client:
                elsewhere.client, elsewhere.csrf = client, ann.csrf
                client.cookies = ann.client.cookies
                item = await ann.claim()
                assert await elsewhere.claim() == item, "the addresses of its panes too"
                label = item["shown"][0]["content"].removeprefix("http://").partition(".")[0]
                assert other.services.capabilities.find(label) is not None
                here = f"/items/{item['id']}"
                await ann.put(f"{here}/draft", {"revision": 0, "payload": {"a": "\x00 \U0001f600"}})
                problem(await elsewhere.put(f"{here}/draft", {"revision": 0, "payload": {}}), 409)
                assert (await elsewhere.get(here)).json()["draft"]["payload"] == {"a": "\x00 \U0001f600"}
                body = {"payload": YES, "key": "k"}
                answers = [await b.post(f"{here}/submit", body) for b in (ann, elsewhere)]
                assert answers[0].json() == answers[1].json()
                # What no database can be asked for is not there.
                for path in ("/items/%00", "/items/%ff", "/invitations/%00", "/queues?x=%00"):
                    assert (await ann.get(path)).status_code in (200, 403, 404), path
                for sent in (b'{"pane": "a\\u0000", "path": "b\\u0000"}', b'{"pane": "\\ud800", "path": ""}'):
                    seen = await ann.send("POST", f"{here}/seen", headers=JSON, content=sent)
                    assert seen.status_code in (204, 400)
                problem(await ann.post("/session", {"name": "a\x00", "password": "b\x00"}), 403)
                assert (await elsewhere.send("DELETE", "/session")).status_code == 204
                problem(await ann.get("/me"), 401)
                assert dashboard.progress(site.desk.people.store, round.id).given == 1
    site.desk.store.close()
