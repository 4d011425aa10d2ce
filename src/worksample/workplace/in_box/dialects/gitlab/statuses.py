"""GitLab's API functions for the statuses of commits, which programs that check a commit report. They are shown in the
tab "Checks" of a merge request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..http_messages import DialectRefused
from .merge_requests import stamp
from .routing import Given, ListResponse, require_values, route
from .view import GitLabView

Named = Mapping[str, str]
STATES = ("pending", "running", "success", "failed", "canceled")
MOST = 5_000
"""Maximum statuses of a project."""


@route("POST", "projects/:id/statuses/:sha")
def add_status(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "state")
    project = asker.project(named["id"])
    sha = project.code.resolve(named["sha"])
    if given["state"] not in STATES:
        raise DialectRefused(400, f"state must be one of {', '.join(STATES)}")
    name = str(given.get("name") or given.get("context") or "default")[:255]
    with asker.kept.edit(project.name) as kept:
        rows = kept.setdefault("statuses", [])
        before = next((row for row in rows if (row["sha"], row["name"]) == (sha, name)), None)
        if before is None and len(rows) >= MOST:
            raise DialectRefused(403, "the project has too many statuses")
        one = before if before is not None else {"id": len(rows) + 1, "sha": sha, "name": name, "created": stamp()}
        one |= {
            "state": str(given["state"]), "description": str(given.get("description") or "")[:1000],
            "target_url": str(given.get("target_url") or "")[:1000], "ref": str(given.get("ref") or "")[:255],
            "by": asker.who.name, "updated": stamp(),
        }  # fmt: skip
        if before is None:
            rows.append(one)
    return _json(asker, one)


@route("GET", "projects/:id/repository/commits/:sha/statuses")
def commit_statuses(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    sha = project.code.resolve(named["sha"])
    rows = [row for row in asker.kept.read(project.name).get("statuses", []) if row["sha"] == sha]
    rows = [row for row in rows if given.get("name") in (None, "", row["name"])]
    return ListResponse(rows, lambda one: _json(asker, one))


def _json(asker: GitLabView, one: Mapping[str, Any]) -> dict[str, Any]:
    finished = one["updated"] if one["state"] in ("success", "failed", "canceled") else None
    return {
        "id": one["id"], "sha": one["sha"], "ref": one["ref"] or None, "status": one["state"], "name": one["name"],
        "description": one["description"] or None, "target_url": one["target_url"] or None, "coverage": None,
        "created_at": one["created"], "started_at": None, "finished_at": finished, "allow_failure": False,
        "author": asker.user(asker.tracker.person(one["by"])),
    }  # fmt: skip
