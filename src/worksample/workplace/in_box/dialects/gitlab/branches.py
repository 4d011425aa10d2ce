"""GitLab's API functions for branches, tags and releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bare_repository import NotFound
from ..http_messages import DialectRefused, not_served
from .commits import commit_json
from .routing import Given, ListResponse, refuse_values, require_values, route
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]


@route("GET", "projects/:id/repository/branches")
def branches(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project, searched = asker.project(named["id"]), str(given.get("search", ""))
    rows = [name for name in project.code.branches() if searched in name]
    return ListResponse(rows, lambda name: _branch(asker, project, name))


@route("GET", "projects/:id/repository/branches/:name")
def branch(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    return _branch(asker, asker.project(named["id"]), named["name"])


def _branch(asker: GitLabView, project: GitLabProject, name: str) -> dict[str, Any]:
    if name not in (found := project.code.branches()):
        raise NotFound("Branch")
    return {
        "name": name, "commit": commit_json(asker, project, project.code.commit(found[name])), "merged": False,
        "protected": False, "developers_can_push": True, "developers_can_merge": True, "can_push": True,
        "default": name == project.code.default_branch(), "web_url": f"{asker.address(project)}/-/tree/{name}",
    }  # fmt: skip


@route("POST", "projects/:id/repository/branches")
def add_branch(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "branch", "ref")
    project, name = asker.project(named["id"]), str(given["branch"])
    if name in project.code.branches():
        raise DialectRefused(400, "Branch already exists")
    project.code.move(name, project.code.resolve(str(given["ref"])))
    return _branch(asker, project, name)


@route("DELETE", "projects/:id/repository/branches/:name")
def remove_branch(asker: GitLabView, named: Named, given: Given) -> None:
    project = asker.project(named["id"])
    if named["name"] not in project.code.branches():
        raise NotFound("Branch")
    if named["name"] == project.code.default_branch():
        raise DialectRefused(405, "Cannot remove HEAD branch")
    project.code.remove(f"refs/heads/{named['name']}")


@route("GET", "projects/:id/repository/tags")
def tags(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project, searched = asker.project(named["id"]), str(given.get("search", ""))
    rows = [one for one in project.code.tags() if searched in one["name"]]
    return ListResponse(rows, lambda one: _tag(asker, project, one))


@route("GET", "projects/:id/repository/tags/:name")
def tag(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    return _tag(asker, project, _tag_named(project, named["name"]))


@route("POST", "projects/:id/repository/tags")
def add_tag(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "tag_name", "ref")
    project = asker.project(named["id"])
    _new_tag(asker, project, str(given["tag_name"]), str(given["ref"]), str(given.get("message") or ""))
    return _tag(asker, project, _tag_named(project, str(given["tag_name"])))


@route("DELETE", "projects/:id/repository/tags/:name")
def remove_tag(asker: GitLabView, named: Named, given: Given) -> None:
    project = asker.project(named["id"])
    _tag_named(project, named["name"])
    project.code.remove(f"refs/tags/{named['name']}")


def _new_tag(asker: GitLabView, project: GitLabProject, name: str, ref: str, message: str) -> None:
    if name in [one["name"] for one in project.code.tags()]:
        raise DialectRefused(400, f"Tag {name} already exists")
    project.code.tag(name, ref, message, asker.author)


def _tag_named(project: GitLabProject, name: str) -> dict[str, Any]:
    for one in project.code.tags():
        if one["name"] == name:
            return one
    raise NotFound("Tag")


def _tag(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any]) -> dict[str, Any]:
    about = commit_json(asker, project, project.code.commit(one["commit"]))
    return {
        "name": one["name"],
        "message": one["message"],
        "target": one["target"],
        "commit": about,
        "protected": False,
    }


# A release is an annotated tag: the first line of its message is the name, the rest the description.


@route("GET", "projects/:id/releases")
def releases(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    return ListResponse(
        [one for one in project.code.tags() if one["message"]], lambda one: _release(asker, project, one)
    )


@route("GET", "projects/:id/releases/:name")
def release(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    found = _tag_named(project, named["name"])
    if not found["message"]:
        raise DialectRefused(404, "404 Not Found")
    return _release(asker, project, found)


@route("POST", "projects/:id/releases")
def add_release(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "tag_name")
    refuse_values(given, "milestones", "assets", "released_at")
    project, name = asker.project(named["id"]), str(given["tag_name"])
    title = str(given.get("name") or name)
    if name in [one["name"] for one in project.code.tags()]:
        raise not_served("a release of a tag that is there already")
    require_values(given, "ref")
    _new_tag(asker, project, name, str(given["ref"]), f"{title}\n\n{given.get('description') or ''}".strip())
    return _release(asker, project, _tag_named(project, name))


def _release(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any]) -> dict[str, Any]:
    title, _, about = one["message"].partition("\n")
    return {
        "tag_name": one["name"], "name": title, "description": about.strip(), "created_at": one["at"],
        "released_at": one["at"], "upcoming_release": False, "assets": {"count": 0, "sources": [], "links": []},
        "commit": commit_json(asker, project, project.code.commit(one["commit"])),
    }  # fmt: skip
