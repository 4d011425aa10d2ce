"""Routes that authenticate, work and serialise in one thread."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, field_serializer

from app.sites import Site, problem
from worksample.app.judging.routes import router as work
from worksample.app.server.authentication import SessionOf, SignedIn
from worksample.app.server.single_thread_route import SingleThreadRoute


class Seen(BaseModel):
    name: str
    session: str
    at_work: int

    @field_serializer("at_work")
    def written(self, at_work: int) -> list[int]:
        return [at_work, threading.get_ident()]


async def test_route_works_and_serialises_in_one_thread(tmp_path: Path) -> None:
    router = APIRouter(route_class=SingleThreadRoute)

    @router.get("/seen", status_code=203)
    def seen(account: SignedIn, session: SessionOf) -> Seen:
        return Seen(name=account.name, session=session, at_work=threading.get_ident())

    site = Site(tmp_path, agents=1, projects=1)
    site.desk.hire("ann", "evaluator")
    token = site.desk.people.accounts.redeem(site.desk.people.accounts.one_time_link("ann"))
    app = FastAPI()
    app.state.services = site.services
    app.include_router(router, prefix="/deeper")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.get("/deeper/seen", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 203 and answer.headers["content-type"] == "application/json"
    said = answer.json()
    assert (said["name"], said["session"]) == ("ann", token)
    assert said["at_work"][0] == said["at_work"][1] != threading.get_ident()


@pytest.mark.parametrize("token", ["", "Bearer of-nobody"])
async def test_request_without_session_is_refused(tmp_path: Path, token: str) -> None:
    site = Site(tmp_path, agents=1, projects=1)
    async with site.browser() as nobody:
        headers = {"Authorization": token} if token else {}
        problem(await nobody.post("/claims", {}, headers=headers), 401, "SignedOut")
        if not token:
            problem(await nobody.post("/claims", {"round": 3}, headers=headers), 401, "SignedOut")


def test_all_evaluator_routes_use_a_single_thread() -> None:
    assert {type(route) for route in work.routes} == {SingleThreadRoute}
