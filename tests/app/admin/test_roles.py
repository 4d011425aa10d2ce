"""Permissions of every route: evaluators cannot use the administration, reviewers cannot change anything."""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute

from app.admin.conftest import Served
from worksample.app.accounts import admin_routes as accounts
from worksample.app.evidence import routes as evidence
from worksample.app.prerendering import routes as rendering_status
from worksample.app.rounds import flags, transfer
from worksample.app.rounds import routes as rounds

ROUTES = [
    (method, route.path)
    for module in (accounts, evidence, flags, rendering_status, rounds, transfer)
    for route in module.router.routes
    if isinstance(route, APIRoute)
    for method in sorted(route.methods)
]
REVIEWED = {
    ("GET", "/api/v1/rounds"),
    ("GET", "/api/v1/rounds/{id}"),
    ("GET", "/api/v1/rounds/{id}/dashboard"),
    ("GET", "/api/v1/rounds/{id}/verdicts"),
    ("GET", "/api/v1/rounds/{id}/votes"),
    ("GET", "/api/v1/submissions/{id}"),
}


async def ask(served: Served, role: str, method: str, path: str) -> int:
    url = re.sub(r"\{id\}", "abc123", path)
    body = {} if method in ("POST", "PATCH") else None
    answer = await served.by[role].request(method, url, json=body)
    return answer.status_code


def test_admin_routes_exist() -> None:
    assert len(ROUTES) >= 25
    assert set(ROUTES) >= REVIEWED


@pytest.mark.parametrize("role", ["evaluator", "expert"])
async def test_evaluators_cannot_use_admin_routes(served: Served, role: str) -> None:
    for method, path in ROUTES:
        assert await ask(served, role, method, path) == 403, (method, path)


async def test_requests_without_session_are_refused(served: Served) -> None:
    for method, path in ROUTES:
        assert await ask(served, "nobody", method, path) == 401, (method, path)


async def test_reviewers_read_what_they_review_and_change_nothing(served: Served) -> None:
    for method, path in ROUTES:
        status = await ask(served, "reviewer", method, path)
        assert (status in (200, 404)) if (method, path) in REVIEWED else status == 403, (method, path, status)


async def test_admins_are_allowed_every_route(served: Served) -> None:
    for method, path in ROUTES:
        assert await ask(served, "admin", method, path) not in (401, 403, 500), (method, path)


async def test_former_admin_is_refused_at_once(served: Served) -> None:
    account = served.people["reviewer"].id
    await served.get("/rounds", role="reviewer")
    await served.patch(f"/accounts/{account}", {"roles": ["evaluator"]})
    await served.get("/rounds", role="reviewer", status=403)
    await served.patch(f"/accounts/{account}", {"disabled": True})
    await served.get("/rounds", role="reviewer", status=401)
