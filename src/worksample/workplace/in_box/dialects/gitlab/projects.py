"""GitLab's API functions for projects, namespaces, members, users and wikis."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..bare_repository import FileChange
from ..http_messages import DialectRefused, DialectResponse, json_response, not_served
from ..tracker import Row, quote
from .routing import Given, ListResponse, is_true, refuse_values, require_values, route
from .view import NAMESPACE, GitLabProject, GitLabView

Named = Mapping[str, str]
LEVELS = {"Manager": 40, "Developer": 30, "Reporter": 20}
"""Role in Redmine -> access level in GitLab."""


def project_json(asker: GitLabView, project: GitLabProject, open_issues: int | None = None) -> dict[str, Any]:
    """Return a project in GitLab's form."""
    row = project.row or {}
    branch = project.repository.default_branch() if project.repository is not None else None
    name, about, address = _name(project), row.get("description") or "", asker.address(project)
    counted = {} if open_issues is None else {"open_issues_count": open_issues}
    return {
        "id": project.id, "name": name, "path": project.name, "path_with_namespace": project.path,
        "name_with_namespace": f"{NAMESPACE} / {name}", "description": about, "default_branch": branch,
        "created_at": row.get("created_on"), "last_activity_at": row.get("updated_on"), "web_url": address,
        "http_url_to_repo": f"{address}.git", "ssh_url_to_repo": None, "avatar_url": None, "visibility": "private",
        "readme_url": f"{address}/-/blob/{branch}/README.md" if branch else None, "archived": False, "topics": [],
        "tag_list": [], "star_count": 0, "forks_count": 0, "empty_repo": branch is None,
        "namespace": {"id": 1, "name": NAMESPACE, "path": NAMESPACE, "kind": "user", "full_path": NAMESPACE},
        "issues_enabled": project.row is not None, "wiki_enabled": project.row is not None,
        "merge_requests_enabled": project.repository is not None, "jobs_enabled": False, **counted,
    }  # fmt: skip


def _name(project: GitLabProject) -> str:
    """Return the name of the project's repository, or the title in the tracker for a project without a repository."""
    return project.name if project.repository is not None else str((project.row or {})["name"])


@route("GET", "projects")
def projects(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    refuse_values(given, "starred", "archived", "topic", "with_programming_language")
    searched = str(given.get("search", "")).lower()
    found = [
        p for p in asker.projects() if searched in p.name or searched in str((p.row or {}).get("name", "")).lower()
    ]
    if given.get("order_by") in ("id", "name", "path"):
        key = {"id": lambda p: p.id, "name": lambda p: str((p.row or {}).get("name", p.name)).lower()}
        found.sort(key=key.get(str(given["order_by"]), lambda p: p.name), reverse=given.get("sort", "desc") == "desc")
    return ListResponse(found, lambda one: project_json(asker, one))


@route("GET", "users/:user/projects")
def projects_of(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    if named["user"] not in (NAMESPACE, "1"):
        asker.tracker.person(named["user"])
        return ListResponse([])
    return ListResponse(asker.projects(), lambda one: project_json(asker, one))


@route("GET", "projects/:id")
def project(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    found = asker.project(named["id"])
    count = None
    if found.row is not None:
        said = asker.tracker.ask(
            "GET", f"/issues.json?project_id={found.row['id']}&subproject_id=!*&status_id=open&limit=1"
        )
        count = said.get("total_count", 0)
    return project_json(asker, found, count)


@route("POST", "projects")
def add_project(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    refuse_values(given, "import_url", "template_name", "namespace_id")
    title = str(given.get("name") or given.get("path") or "")
    path = str(given.get("path") or re.sub("[^a-z0-9]+", "-", title.lower())).strip("-").lower()
    if not title or re.fullmatch("[a-z][a-z0-9_-]{0,39}", path) is None:
        raise DialectRefused(400, "path must have 1 to 40 lower case letters, digits, _ and -, and begin with a letter")
    if any(one.name == path for one in asker.projects()):
        raise DialectRefused(400, "path has already been taken")
    body = {"name": title, "identifier": path, "description": str(given.get("description") or ""), "is_public": False}
    asker.tracker.ask("POST", "/projects.json", {"project": body})
    code = asker.add_repository(path)
    if is_true(given.get("initialize_with_readme")):
        code.commit_changes(
            "main", "", [FileChange("README.md", f"# {title}\n".encode())], "Initial commit", asker.author
        )
    return project_json(asker, asker.project(f"{NAMESPACE}/{path}"))


@route("DELETE", "projects/:id")
def remove_project(asker: GitLabView, named: Named, given: Given) -> DialectResponse:
    found = asker.project(named["id"])
    if found.row is not None:
        asker.tracker.ask("DELETE", f"/projects/{found.row['id']}.json")
    elif not asker.is_admin:
        raise DialectRefused(403, "403 Forbidden")
    asker.remove_repository(found.name)
    return json_response({"message": "202 Accepted"}, 202, by=asker.who.name)


@route("GET", "namespaces")
def namespaces(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    return ListResponse([{"id": 1, "name": NAMESPACE, "path": NAMESPACE, "kind": "user", "full_path": NAMESPACE}])


@route("GET", "groups")
def groups(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    return ListResponse([])


@route("GET", "version")
@route("GET", "metadata")
def version(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    return {"version": "17.5.1", "revision": "worksample", "enterprise": False}


# People


@route("GET", "user")
def me(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    row = asker.me
    return {**asker.user(row), "email": row["mail"], "commit_email": row["mail"], "created_at": row["since"]}


@route("GET", "users")
def users(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    found = asker.tracker.people()
    if username := str(given.get("username", "")).lower():
        found = [one for one in found if one["login"] == username]
    if searched := str(given.get("search", "")).lower():
        found = [one for one in found if searched in f"{one['name']}\n{one['login']}\n{one['mail']}".lower()]
    return ListResponse(sorted(found, key=lambda one: -int(one["id"])), asker.user)


@route("GET", "users/:user")
def user(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    row = asker.tracker.person(named["user"])
    return {**asker.user(row), "created_at": row["since"]}


@route("GET", "projects/:id/members")
@route("GET", "projects/:id/members/all")
@route("GET", "projects/:id/users")
def members(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    found = asker.tracked_project(named["id"])
    searched = str(given.get("query", given.get("search", ""))).lower()
    rows = [one for one in asker.tracker.members(found.name) if searched in f"{one['name']}\n{one['login']}".lower()]
    return ListResponse(rows, lambda one: _member(asker, one))


@route("GET", "projects/:id/members/:user")
@route("GET", "projects/:id/members/all/:user")
def member(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    for one in asker.tracker.members(asker.tracked_project(named["id"]).name):
        if named["user"] in (str(one["id"]), one["login"]):
            return _member(asker, one)
    raise DialectRefused(404, "404 Not found")


def _member(asker: GitLabView, one: Row) -> dict[str, Any]:
    level = max((LEVELS.get(role, 10) for role in one["roles"]), default=10)
    return {**asker.user(one), "access_level": level, "expires_at": None, "membership_state": "active"}


# Wikis


@route("GET", "projects/:id/wikis")
def pages(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    found = asker.tracked_project(named["id"])
    try:
        rows = asker.tracker.ask("GET", f"/projects/{found.name}/wiki/index.json")["wiki_pages"]
    except DialectRefused as error:
        if error.status != 404:
            raise
        rows = []
    whole = is_true(given.get("with_content"))
    return ListResponse(rows, lambda one: _page(asker, found, one["title"]) if whole else _page_head(one))


@route("GET", "projects/:id/wikis/:slug")
def page(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    return _page(asker, asker.tracked_project(named["id"]), named["slug"])


@route("POST", "projects/:id/wikis")
def add_page(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "title", "content")
    return _write(asker, asker.tracked_project(named["id"]), str(given["title"]), given)


@route("PUT", "projects/:id/wikis/:slug")
def change_page(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    if given.get("title") and _slug(str(given["title"])) != _slug(named["slug"]):
        raise not_served("another title of a wiki's page")
    found = asker.tracked_project(named["id"])
    _page(asker, found, named["slug"])
    require_values(given, "content")
    return _write(asker, found, named["slug"], given)


@route("DELETE", "projects/:id/wikis/:slug")
def remove_page(asker: GitLabView, named: Named, given: Given) -> None:
    found = asker.tracked_project(named["id"])
    asker.tracker.ask("DELETE", f"/projects/{found.name}/wiki/{quote(named['slug'])}.json")


def _write(asker: GitLabView, project: GitLabProject, title: str, given: Given) -> dict[str, Any]:
    if given.get("format", "markdown") != "markdown":
        raise not_served("wikis in other forms than Markdown")
    body = {"wiki_page": {"text": str(given["content"]), "comments": str(given.get("message", ""))}}
    asker.tracker.ask("PUT", f"/projects/{project.name}/wiki/{quote(_slug(title))}.json", body)
    return _page(asker, project, _slug(title))


def _page(asker: GitLabView, project: GitLabProject, title: str) -> dict[str, Any]:
    row = asker.tracker.ask("GET", f"/projects/{project.name}/wiki/{quote(title)}.json")["wiki_page"]
    return {**_page_head(row), "content": row["text"], "encoding": "UTF-8"}


def _page_head(row: Row) -> dict[str, Any]:
    return {"slug": row["title"], "title": row["title"].replace("_", " "), "format": "markdown"}


def _slug(title: str) -> str:
    """Return the title of a wiki page in the form that Redmine uses in addresses."""
    return "_".join(title.split()).replace("/", "-")[:255]
