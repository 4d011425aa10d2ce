"""GitLab's API functions for commits, their differences, and comparisons of commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bare_repository import BareRepository, NotFound, check_path
from ..http_messages import not_served
from .routing import Given, ListResponse, is_true, refuse_values, require_values, route
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]


def requested_ref(code: BareRepository, given: Given, key: str = "ref") -> str:
    """Return the branch, tag or digest that a client requested. HEAD stands for the default branch. Raises NotFound if
    the repository is empty.
    """
    ref = str(given.get(key) or "HEAD")
    found = code.default_branch() if ref == "HEAD" else ref
    if found is None:
        raise NotFound("Tree")
    return found


def commit_json(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a commit in GitLab's form."""
    return {**one, "web_url": f"{asker.address(project)}/-/commit/{one['id']}", "trailers": {}}


@route("GET", "projects/:id/repository/commits")
def commits(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    refuse_values(given, "trailers", "first_parent")
    if project.code.default_branch() is None:
        return ListResponse([])
    ref, _, until = requested_ref(project.code, given, "ref_name").partition("..")
    rows = project.code.log(
        until or ref, without=project.code.resolve(ref) if until else "", path=check_path(str(given.get("path", ""))),
        since=str(given.get("since", "")), until=str(given.get("until", "")), author=str(given.get("author", "")),
        everywhere=is_true(given.get("all")),
    )  # fmt: skip
    return ListResponse(rows, lambda one: with_stats(asker, project, one, is_true(given.get("with_stats"))))


@route("GET", "projects/:id/repository/commits/:sha")
def commit(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    return with_stats(asker, project, project.code.commit(named["sha"]), True)


def with_stats(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any], counted: bool) -> dict[str, Any]:
    """Return a commit in GitLab's form, with the number of changed lines if `counted`."""
    found = commit_json(asker, project, one)
    if counted:
        lines = [line for row in _difference(project, one) for line in row["diff"].split("\n")]
        added, gone = (sum(line.startswith(mark) for line in lines) for mark in "+-")
        found["stats"] = {"additions": added, "deletions": gone, "total": added + gone}
    return found


def _difference(project: GitLabProject, one: Mapping[str, Any]) -> list[dict[str, Any]]:
    return project.code.difference(next(iter(one["parent_ids"]), ""), one["id"])


@route("GET", "projects/:id/repository/commits/:sha/diff")
def commit_diff(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    return ListResponse(_difference(project, project.code.commit(named["sha"])))


@route("GET", "projects/:id/repository/commits/:sha/refs")
def commit_refs(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    code = asker.project(named["id"]).code
    digest, found = code.resolve(named["sha"]), []
    for kind, place in (("branch", "refs/heads"), ("tag", "refs/tags")):
        if given.get("type", "all") in ("all", kind):
            said = code.text("for-each-ref", "--contains", digest, "--format=%(refname:strip=2)", place)
            found += [{"type": kind, "name": name} for name in said.splitlines()]
    return ListResponse(found)


@route("GET", "projects/:id/repository/compare")
def compare(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "from", "to")
    project = asker.project(named["id"])
    code = project.code
    old, new = code.resolve(str(given["from"])), code.resolve(str(given["to"]))
    base = old if is_true(given.get("straight")) else code.merge_base(old, new)
    rows = [commit_json(asker, project, one) for one in reversed(code.log(new, without=old))]
    return {
        "commit": rows[-1] if rows else None, "commits": rows, "diffs": code.difference(base, new),
        "compare_timeout": False, "compare_same_ref": old == new,
    }  # fmt: skip


@route("GET", "projects/:id/repository/merge_base")
def merge_base(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    refs = given.get("refs") or given.get("refs[]")
    if not isinstance(refs, list) or len(refs) != 2:
        raise not_served("merge_base of other than a list of two refs")
    project = asker.project(named["id"])
    base = project.code.merge_base(*(project.code.resolve(str(ref)) for ref in refs))
    return commit_json(asker, project, project.code.commit(base))


@route("GET", "projects/:id/repository/contributors")
def contributors(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    found: dict[str, dict[str, Any]] = {}
    code = asker.project(named["id"]).code
    for one in code.log(requested_ref(code, given)):
        row = found.setdefault(
            one["author_email"], {"name": one["author_name"], "email": one["author_email"], "commits": 0}
        )
        row["commits"] += 1
    return ListResponse(sorted(found.values(), key=lambda row: -int(row["commits"])))
