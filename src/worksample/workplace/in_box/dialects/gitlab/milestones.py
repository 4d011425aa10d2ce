"""GitLab's API functions for milestones. A milestone is a version in the tracker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..http_messages import DialectRefused
from ..tracker import Row
from .routing import Given, ListResponse, refuse_values, require_values, route
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]


@route("GET", "projects/:id/milestones")
def milestones(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.tracked_project(named["id"])
    rows = [milestone_json(asker, project, one) for one in asker.tracker.versions(project.name)]
    if searched := str(given.get("search", "")).lower():
        rows = [one for one in rows if searched in f"{one['title']}\n{one['description']}".lower()]
    rows = [one for one in rows if given.get("title") in (None, "", one["title"])]
    rows = [one for one in rows if given.get("state") in (None, "", "all", one["state"])]
    return ListResponse(rows[::-1])


@route("GET", "projects/:id/milestones/:milestone")
def milestone(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.tracked_project(named["id"])
    return milestone_json(asker, project, version_of(asker, project, named["milestone"]))


@route("POST", "projects/:id/milestones")
def add_milestone(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "title")
    project = asker.tracked_project(named["id"])
    made = asker.tracker.add_version(project.name, _version_values(given))
    return milestone_json(asker, project, made)


@route("PUT", "projects/:id/milestones/:milestone")
def change_milestone(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.tracked_project(named["id"])
    row = version_of(asker, project, named["milestone"])
    values = _version_values(given)
    if (event := given.get("state_event")) is not None:
        if event not in ("close", "activate"):
            raise DialectRefused(400, "state_event must be close or activate")
        values["status"] = "closed" if event == "close" else "open"
    return milestone_json(asker, project, asker.tracker.change_version(row["id"], values))


@route("DELETE", "projects/:id/milestones/:milestone")
def remove_milestone(asker: GitLabView, named: Named, given: Given) -> None:
    row = version_of(asker, asker.tracked_project(named["id"]), named["milestone"])
    asker.tracker.ask("DELETE", f"/versions/{row['id']}.json")


def _version_values(given: Given) -> dict[str, object]:
    refuse_values(given, "start_date")
    kept = {"title": "name", "description": "description", "due_date": "due_date"}
    return {kept[key]: given[key] or "" for key in kept if key in given}


def version_of(asker: GitLabView, project: GitLabProject, number: str) -> Row:
    """Return a version of a project by its number. Raises DialectRefused (404) if the project does not have it."""
    if number.isdigit():
        row = asker.tracker.version(number)
        if row["project"]["id"] == (project.row or {})["id"]:
            return row
    raise DialectRefused(404, "404 Milestone Not Found")


def milestone_json(asker: GitLabView, project: GitLabProject, row: Row) -> dict[str, Any]:
    """Return a version of the tracker as a milestone in GitLab's form."""
    return {
        "id": row["id"], "iid": row["id"], "project_id": project.id, "title": row["name"],
        "description": row.get("description") or "", "state": "active" if row["status"] == "open" else "closed",
        "due_date": row.get("due_date"), "start_date": None, "created_at": row["created_on"],
        "updated_at": row["updated_on"], "expired": False,
        "web_url": f"{asker.address(project)}/-/milestones/{row['id']}",
    }  # fmt: skip
