"""Plane's REST API over the tracker, by calls of TheAgentCompany's evaluators and of people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests

from workplace.firm_with_code import TOKEN, company, during

pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.thorough(quick="workplace/test_code_dialects_without_services.py::test_plane_reads_what_it_writes"),
    pytest.mark.long(seconds=40),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class Plane:
    """One account's Plane."""

    def __init__(self, address: str, **given: Any) -> None:
        self.root, self.given = f"{address}/api/v1/workspaces/tac", given

    def ask(self, method: str, path: str, body: object = None, status: int = 200, **query: Any) -> Any:
        said = requests.request(
            method,
            f"{self.root}/{path}",
            json=body,
            params=query,
            timeout=60,
            **(self.given or {"headers": {"x-api-key": TOKEN}}),
        )
        assert said.status_code == status, f"{method} {path}: {said.status_code} {said.text}"
        return said.json() if said.content else None

    def all(self, path: str, **query: Any) -> list[Any]:
        return list(self.ask("GET", path, **query)["results"])

    def named(self, path: str, name: str) -> dict[str, Any]:
        [found] = [one for one in self.all(path) if one["name"] == name]
        return dict(found)


async def test_issues_cycles_and_modules_are_served(tmp_path: Path) -> None:
    await during(company(tmp_path / "company"), lambda at: _work(at["tracker"]), lambda at: _unchanged(at["tracker"]))


def _work(address: str) -> None:
    plane = Plane(address)
    project = f"projects/{plane.named('projects/', 'OpenHands')['id']}"
    states = {one["name"]: one for one in plane.all(f"{project}/states/")}
    assert {name: one["group"] for name, one in states.items()}.items() >= {
        "Todo": "unstarted", "In Progress": "started", "Done": "completed", "Cancelled": "cancelled",
    }.items()  # fmt: skip
    people = {one["display_name"]: one["id"] for one in plane.ask("GET", f"{project}/members/")}
    recall = plane.named(f"{project}/issues", "Model: recall rate is 0")
    assert (recall["state"], recall["assignees"]) == (states["Todo"]["id"], [people["li_ming"]])
    assert plane.ask("GET", f"{project}/states/{recall['state']}")["group"] == "unstarted"
    _issues(plane, project, states, people, recall["id"])
    _cycles(plane, project, recall["id"])
    made = plane.ask("POST", f"{project}/modules/", {"name": "Core"}, 201)
    plane.ask("POST", f"{project}/modules/{made['id']}/module-issues/", {"issues": [recall["id"]]}, 201)
    assert [one["id"] for one in plane.all(f"{project}/modules/{made['id']}/module-issues/")] == [recall["id"]]
    _refusals(plane, address, project)


def _issues(plane: Plane, project: str, states: dict[str, Any], people: dict[str, str], recall: str) -> None:
    done = plane.ask("PATCH", f"{project}/issues/{recall}/", {"state": states["Done"]["id"], "priority": "urgent"})
    assert (done["state"], done["priority"]) == (states["Done"]["id"], "urgent")
    assert done["completed_at"]
    label = plane.ask("POST", f"{project}/labels/", {"name": "bug", "color": "#ff0000"}, 201)
    body = {
        "name": "Write <tests>", "description_html": "<p>One &amp; two</p><p>Three</p>", "labels": [label["id"]],
        "assignees": [people["david_wong"]], "target_date": "2026-04-01",
    }  # fmt: skip
    made = plane.ask("POST", f"{project}/issues/", body, 201)
    again = plane.ask("GET", f"{project}/issues/{made['id']}/")
    assert {key: again[key] for key in body} == body
    assert again["description_stripped"] == "One & two\n\nThree"
    plane.ask("POST", f"{project}/issues/{made['id']}/comments/", {"comment_html": "<p>Soon</p>"}, 201)
    assert [one["comment_html"] for one in plane.all(f"{project}/issues/{made['id']}/comments/")] == ["<p>Soon</p>"]
    first = plane.ask("GET", f"{project}/issues/", per_page=2)
    rest = plane.ask("GET", f"{project}/issues/", per_page=2, cursor=first["next_cursor"])
    assert (first["next_page_results"], rest["next_page_results"]) == (True, False)
    assert len({one["id"] for one in first["results"] + rest["results"]}) == first["total_count"] == 3


def _cycles(plane: Plane, project: str, recall: str) -> None:
    sprints = {one["name"]: one for one in plane.all(f"{project}//cycles")}
    assert (sprints["Sprint 2"]["start_date"], sprints["Sprint 2"]["end_date"]) == ("2026-03-01", "2026-03-31")
    one, two = (f"{project}/cycles/{sprints[name]['id']}/cycle-issues/" for name in ("Sprint 1", "Sprint 2"))
    assert len(plane.all(one)) == 2
    plane.ask("POST", two, {"issues": [recall]}, 201)
    assert ([row["id"] for row in plane.all(two)], len(plane.all(one))) == ([recall], 1)
    plane.ask("DELETE", f"{two}{recall}/", status=204)
    assert not plane.all(two)
    body = {"name": "Sprint 3", "start_date": "2026-04-01", "end_date": "2026-04-30", "description": "The last"}
    made = plane.ask("POST", f"{project}/cycles/", body, 201)
    assert {key: made[key] for key in body} == body


def _refusals(plane: Plane, address: str, project: str) -> None:
    plane.ask("POST", "projects/", {"name": "New"}, 403)  # the account is no administrator
    plane.ask("DELETE", f"{project}/", status=403)
    plane.ask("GET", f"{project}/pages/", status=501)
    plane.ask("POST", f"{project}/issues/", {"name": "x", "parent": "y"}, 501)
    plane.ask("POST", f"{project}/issues/", {}, 400)
    Plane(address, headers={"x-api-key": "wrong"}).ask("GET", "projects/", status=401)
    david = Plane(address, auth=("david_wong", "of-david-alone"))
    assert {one["name"] for one in david.all("projects/")} == {"Board", "OpenHands"}
    board = david.named("projects/", "Board")["id"]
    plane.ask("GET", f"projects/{board}/issues/", status=404)
    page = requests.get(f"{address}/tac/{project}/issues/", timeout=60, allow_redirects=False)
    assert (page.status_code, page.headers["Location"]) == (302, "/projects/openhands/issues")


def _unchanged(address: str) -> None:
    plane = Plane(address)
    project = f"projects/{plane.named('projects/', 'OpenHands')['id']}"
    assert (len(plane.all(f"{project}/issues/")), plane.all(f"{project}/labels/")) == (2, [])
