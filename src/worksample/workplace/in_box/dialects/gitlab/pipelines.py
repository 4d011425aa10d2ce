"""GitLab's API functions for pipelines and for the protection of branches.

A pipeline belongs to the last commit of a branch whose tree has the file of the pipeline's jobs. It stays pending,
because no runner runs its jobs. The protection of a branch is recorded and shown; git and the API do not enforce it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from ..bare_repository import NotFound
from ..http_messages import DialectRefused
from .routing import Given, ListResponse, require_values, route
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]
JOBS = ".gitlab-ci.yml"
LEVELS = {0: "No one", 30: "Developers + Maintainers", 40: "Maintainers"}
USUAL = 40
"""Access level by which GitLab protects the default branch of a new project."""


@route("GET", "projects/:id/pipelines")
def pipelines(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    rows = [_pipeline(asker, project, name, sha) for name, sha in project.code.branches().items()
            if any(one["path"] == JOBS for one in project.code.tree(sha, "", False))]  # fmt: skip
    return ListResponse([one for one in rows if given.get("ref") in (None, "", one["ref"])])


def _pipeline(asker: GitLabView, project: GitLabProject, branch: str, sha: str) -> dict[str, Any]:
    number = zlib.crc32(sha.encode()) & 0x7FFFFFFF
    at = project.code.commit(sha)["committed_date"]
    return {
        "id": number, "iid": number, "project_id": project.id, "sha": sha, "ref": branch, "status": "pending",
        "source": "push", "created_at": at, "updated_at": at,
        "web_url": f"{asker.address(project)}/-/pipelines/{number}",
    }  # fmt: skip


@route("GET", "projects/:id/protected_branches")
def protected_branches(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    return ListResponse([_rule(name, levels) for name, levels in _rules(asker, asker.project(named["id"])).items()])


@route("GET", "projects/:id/protected_branches/:name")
def protected_branch(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    found = _rules(asker, asker.project(named["id"]))
    if named["name"] not in found:
        raise NotFound("Branch")
    return _rule(named["name"], found[named["name"]])


@route("POST", "projects/:id/protected_branches")
def protect_branch(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "name")
    project, name = asker.project(named["id"]), str(given["name"])[:255]
    with asker.kept.edit(project.name) as kept:
        rules = kept.setdefault("protected", _usual(project))
        if name in rules:
            raise DialectRefused(409, f"Protected branch '{name}' already exists")
        rules[name] = [_level(given.get("push_access_level")), _level(given.get("merge_access_level"))]
    return _rule(name, rules[name])


@route("DELETE", "projects/:id/protected_branches/:name")
def unprotect_branch(asker: GitLabView, named: Named, given: Given) -> None:
    project = asker.project(named["id"])
    with asker.kept.edit(project.name) as kept:
        if kept.setdefault("protected", _usual(project)).pop(named["name"], None) is None:
            raise NotFound("Branch")


def _level(value: object) -> int:
    if value in (None, ""):
        return USUAL
    if str(value) not in map(str, LEVELS):
        raise DialectRefused(400, f"an access level is one of {', '.join(map(str, LEVELS))}")
    return int(str(value))


def _usual(project: GitLabProject) -> dict[str, list[int]]:
    branch = project.code.default_branch()
    return {branch: [USUAL, USUAL]} if branch else {}


def _rules(asker: GitLabView, project: GitLabProject) -> dict[str, list[int]]:
    found: dict[str, list[int]] = asker.kept.read(project.name).get("protected", _usual(project))
    return found


def _rule(name: str, levels: list[int]) -> dict[str, Any]:
    push, merge = ([{"access_level": one, "access_level_description": LEVELS[one]}] for one in levels)
    return {
        "id": zlib.crc32(name.encode()), "name": name, "push_access_levels": push, "merge_access_levels": merge,
        "allow_force_push": False, "code_owner_approval_required": False,
    }  # fmt: skip
