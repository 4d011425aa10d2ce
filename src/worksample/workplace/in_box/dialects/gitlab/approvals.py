"""GitLab's API functions for approvals of merge requests. An approval belongs to the commits that were approved: a new
commit on the source branch removes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..http_messages import DialectRefused
from .merge_requests import current_head, find_merge_request, stamp
from .routing import Given, route
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]


@route("GET", "projects/:id/merge_requests/:iid/approvals")
def approvals(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    return _json(asker, project, find_merge_request(asker.kept.read(project.name), named["iid"]))


@route("POST", "projects/:id/merge_requests/:iid/approve")
def approve(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    with asker.kept.edit(project.name) as kept:
        one = find_merge_request(kept, named["iid"])
        head = current_head(project, one)
        if one["state"] != "opened":
            raise DialectRefused(401, "401 Unauthorized - the merge request is not open")
        if given.get("sha") and given["sha"] != head:
            raise DialectRefused(409, "SHA does not match HEAD of source branch")
        if asker.who.name in [row["by"] for row in _valid(project, one)]:
            raise DialectRefused(401, "401 Unauthorized - you have approved it already")
        one["approvals"] = [*_valid(project, one), {"by": asker.who.name, "at": stamp(), "sha": head}]
    return _json(asker, project, one)


@route("POST", "projects/:id/merge_requests/:iid/unapprove")
def unapprove(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    with asker.kept.edit(project.name) as kept:
        one = find_merge_request(kept, named["iid"])
        left = [row for row in _valid(project, one) if row["by"] != asker.who.name]
        if len(left) == len(_valid(project, one)):
            raise DialectRefused(404, "404 Not Found - you have not approved it")
        one["approvals"] = left
    return _json(asker, project, one)


def _valid(project: GitLabProject, one: Mapping[str, Any]) -> list[dict[str, Any]]:
    head = current_head(project, one)
    return [row for row in one.get("approvals", []) if row["sha"] == head]


def _json(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any]) -> dict[str, Any]:
    by = [
        {"user": asker.user(asker.tracker.person(row["by"])), "approved_at": row["at"]} for row in _valid(project, one)
    ]
    mine = asker.who.name in [row["by"] for row in _valid(project, one)]
    return {
        "iid": one["iid"], "project_id": project.id, "title": one["title"], "state": one["state"],
        "approved": bool(by), "approvals_required": 0, "approvals_left": 0, "approved_by": by,
        "user_has_approved": mine, "user_can_approve": not mine and one["state"] == "opened",
    }  # fmt: skip
