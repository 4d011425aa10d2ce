"""The app over a small office, and browsers that talk to it through ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from people.worlds import Office, office
from worksample.app import AppConfig, create_app
from worksample.app.server.api import make_api

API = "/api/v1"
YES = {"score": 2, "justification": "report.txt has it all"}


@cache
def schema() -> dict[str, Any]:
    """The API's, made once in each process: a second of work."""
    return make_api().openapi()


class Browser:
    """One person's: a cookie jar, and the headers that a page of the app sends."""

    def __init__(self, site: Site, client: httpx.AsyncClient) -> None:
        self.site, self.client = site, client
        self.csrf = ""
        self.me: dict[str, Any] = {}

    async def enter(self, name: str) -> dict[str, Any]:
        """Sign in by a one-time link."""
        token = self.site.desk.people.accounts.one_time_link(name)
        return self.entered(await self.post("/session/link", {"token": token}))

    def entered(self, response: httpx.Response) -> dict[str, Any]:
        assert response.status_code == 200, response.text
        self.me = response.json()
        self.csrf = self.me["csrf"]
        return self.me

    async def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str | None] = {}, **rest: Any
    ) -> httpx.Response:
        """As a browser sends it; a header that is None is left out. Paths lie under the API."""
        usual: dict[str, str | None] = {"Sec-Fetch-Site": "same-origin"}
        if method not in ("GET", "HEAD"):
            usual |= {"Origin": self.site.config.app_origin, "X-CSRF-Token": self.csrf}
        named = {k: v for k, v in (usual | dict(headers)).items() if v is not None}
        content = {"json": body} if body is not None else {}
        return await self.client.request(method, API + path, headers=named, **content, **rest)

    async def get(self, path: str, **rest: Any) -> httpx.Response:
        return await self.send("GET", path, **rest)

    async def post(self, path: str, body: Any = None, **rest: Any) -> httpx.Response:
        return await self.send("POST", path, body, **rest)

    async def put(self, path: str, body: Any = None, **rest: Any) -> httpx.Response:
        return await self.send("PUT", path, body, **rest)

    async def claim(self, **body: Any) -> dict[str, Any]:
        response = await self.post("/claims", body)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found


class Site:
    """An office of people with the app in front of it; its clock moves when told to."""

    def __init__(self, folder: Path, config: AppConfig | None = None, **rest: Any) -> None:
        self.desk: Office = office(folder, **rest)
        self.config = config or AppConfig(static=folder / "static")
        self.app = create_app(self.desk.store, self.config, clock=self.desk.clock)
        self.services = self.app.services

    @asynccontextmanager
    async def browser(self, name: str = "", *roles: str, origin: str = "") -> AsyncIterator[Browser]:
        """Somebody's browser; with a name it is signed in, and hired where that is a new one."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=origin or self.config.app_origin) as client:
            browser = Browser(self, client)
            if name:
                if name not in {a.name for a in self.desk.people.accounts.all()}:
                    self.desk.hire(name, *roles)
                await browser.enter(name)
            yield browser


def problem(response: httpx.Response, status: int, kind: str = "") -> dict[str, Any]:
    """The error of an answer that has to be one."""
    assert response.status_code == status, f"{response.status_code}: {response.text[:500]}"
    error: dict[str, Any] = response.json()["error"]
    assert set(error) == {"kind", "what", "next", "where", "faults"}
    assert not kind or error["kind"] == kind, error
    return error


async def ask(site: Site, *hosts: str, path: str = "/", method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """As a server hands it over, with whatever Host headers."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(b"host", host.encode("latin-1")) for host in hosts], "client": ("127.0.0.1", 1), "scheme": "http",
        "server": ("127.0.0.1", 8765), "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"},
    }  # fmt: skip
    await site.app(scope, receive, send)
    headers = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(m.get("body", b"") for m in sent[1:])
