"""A server over a small store, and one client for each role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from people.worlds import Office, office
from worksample.app.config import AppConfig
from worksample.app.server.application import create_app
from worksample.people import Account

ROLES = ("evaluator", "expert", "reviewer", "admin")


@dataclass
class Served:
    """`by[role]` asks as somebody with that role, `by["nobody"]` as nobody."""

    desk: Office
    people: dict[str, Account]
    by: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    async def get(self, path: str, role: str = "admin", status: int = 200) -> Any:
        return _body(await self.by[role].get("/api/v1" + path), status)

    async def post(self, path: str, body: Any = None, role: str = "admin", status: int = 200) -> Any:
        return _body(await self.by[role].post("/api/v1" + path, json={} if body is None else body), status)

    async def patch(self, path: str, body: Any, role: str = "admin", status: int = 200) -> Any:
        return _body(await self.by[role].patch("/api/v1" + path, json=body), status)


def _body(answer: httpx.Response, status: int) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content and "json" in answer.headers["content-type"] else answer.content


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serve(tmp_path, AppConfig()) as found:
        yield found


@asynccontextmanager
async def serve(tmp_path: Path, config: AppConfig) -> AsyncIterator[Served]:
    desk = office(tmp_path, agents=2, projects=2)
    app = create_app(desk.store, config, clock=desk.clock)
    found = Served(desk, {role: desk.hire(f"an {role}", role) for role in ROLES})
    async with AsyncExitStack() as stack:
        for role in (*ROLES, "nobody"):
            headers = {}
            if role in found.people:
                headers["authorization"] = f"Bearer {desk.people.accounts.open_session(found.people[role])}"
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url=config.app_origin, headers=headers)
            found.by[role] = await stack.enter_async_context(client)
        yield found
    desk.store.close()
