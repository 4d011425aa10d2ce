"""Plane's addresses and the functions that answer them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..accounts import DialectAccounts
from ..backend import TRACKER, Backend
from ..http_messages import (
    DialectRefused,
    DialectRequest,
    DialectResponse,
    bounded_number,
    json_response,
    not_served,
    redirect_page,
)
from ..json_tables import JsonTables
from ..tracker import Tracker
from . import serializers
from .view import PlaneView

API = re.compile(r"/api/v1/workspaces/([A-Za-z0-9_-]+)/(.*)")
_PAGE = re.compile(
    r"/[A-Za-z0-9_-]+/(?:projects(?:/([0-9a-f-]{36})(?:/(issues|cycles|modules|settings)(?:/([0-9a-f-]{36}))?.*)?)?)?/?"
)
PER_PAGE = 1000


class Plane:
    """The dialect of Plane. `state` is the folder of the workplace's state."""

    def __init__(self, accounts: DialectAccounts, state: Path, *, tracker: Backend = TRACKER) -> None:
        self._accounts, self._tracker = accounts, tracker
        self._kept = JsonTables(state / "dialects" / "projects")
        serializers.read_given_ids(state / "dialects" / "plane_ids.json")

    def answer(self, request: DialectRequest) -> DialectResponse:
        """Return the response to a request."""
        who = self._accounts.find_account(request)
        if not request.path.startswith("/api/v1/"):
            return self._page(request)
        if who is None:
            return json_response({"detail": "Authentication credentials were not provided."}, 401)
        asker = PlaneView(Tracker(who, self._accounts.operator(), self._tracker), self._kept, who)
        try:
            if request.path.rstrip("/") == "/api/v1/users/me":
                return json_response(serializers.person(asker.tracker.person(who.name)), by=who.name)
            if (asked := API.fullmatch(request.path)) is None:
                raise not_served(f"Plane's {request.path}")
            # Plane treats several slashes as one.
            return _answer(asker, request, re.sub("/+", "/", asked[2]).strip("/"))
        except DialectRefused as error:
            return json_response({"error": error.why, "detail": error.why}, error.status, error.headers)

    def _page(self, request: DialectRequest) -> DialectResponse:
        """Redirect the address of a web page of Plane to the corresponding page of the tracker."""
        page = _PAGE.fullmatch(request.path)
        if page is None:
            raise not_served(f"Plane's page {request.path}")
        who = self._accounts.operator()
        asker = PlaneView(Tracker(who, who, self._tracker), self._kept, who)
        if page[1] is None:
            return redirect_page("/projects")
        row = asker.project(page[1])
        place = {"issues": "/issues", "cycles": "/roadmap", "modules": "/issues", "settings": "/settings"}.get(
            page[2] or "", ""
        )
        if page[2] == "issues" and page[3]:
            return redirect_page(f"/issues/{asker.issue(row, page[3])['id']}")
        return redirect_page(f"/projects/{row['identifier']}{place}")


Verb = Callable[[PlaneView, "list[str]", Mapping[str, Any]], Any]


def _answer(asker: PlaneView, request: DialectRequest, path: str) -> DialectResponse:
    words = path.split("/")
    for method, parts, verb in ROUTES:
        fits = len(parts) == len(words) and all(p in ("*", w) for p, w in zip(parts, words, strict=True))
        if fits and method == request.method:
            value = verb(asker, [w for p, w in zip(parts, words, strict=True) if p == "*"], request.values())
            if value is None:
                return DialectResponse(204, by=asker.who.name)
            if isinstance(value, list) and parts[-1] not in ("members", "project-members"):
                value = _page_json(value, request)
            return json_response(value, 201 if request.method == "POST" else 200, by=asker.who.name)
    raise not_served(f"Plane's {request.method} {path}")


def _page_json(rows: list[Any], request: DialectRequest) -> dict[str, Any]:
    """Return one page of rows in Plane's form. The request's `cursor` has the form SIZE:PAGE:0."""
    per_page = bounded_number(request.query.get("per_page"), PER_PAGE, PER_PAGE) or PER_PAGE
    words = request.query.get("cursor", f"{per_page}:0:0").split(":")
    page = bounded_number(words[1] if len(words) == 3 else 0, 0, 1 << 30)
    cut = rows[page * per_page : (page + 1) * per_page]
    more = len(rows) > (page + 1) * per_page
    return {
        "results": cut, "count": len(cut), "total_count": len(rows), "total_results": len(rows),
        "total_pages": -(-len(rows) // per_page), "next_cursor": f"{per_page}:{page + 1}:0", "next_page_results": more,
        "prev_cursor": f"{per_page}:{page - 1}:1", "prev_page_results": page > 0, "extra_stats": None,
        "grouped_by": None, "sub_grouped_by": None,
    }  # fmt: skip


def _projects(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [serializers.project(row, asker.workspace) for row in asker.tracker.projects()]


def _project(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    return serializers.project(asker.project(words[0]), asker.workspace)


def _add_project(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    name = str(given.get("name") or "")
    identifier = re.sub("[^a-z0-9]+", "-", str(given.get("identifier") or name).lower()).strip("-")[:40]
    if not name or not identifier[:1].isalpha():
        raise DialectRefused(
            400, "name and identifier: a name and an identifier that begins with a letter are required"
        )
    body = {"name": name, "identifier": identifier, "description": str(given.get("description") or "")}
    made = asker.tracker.ask("POST", "/projects.json", {"project": {**body, "is_public": False}})["project"]
    return serializers.project(made, asker.workspace)


def _remove_project(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> None:
    asker.tracker.ask("DELETE", f"/projects/{asker.project(words[0])['id']}.json")


def _add_member(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    row, people = asker.project(words[0]), asker.tracker.people()
    asked = given.get("members") or [given]
    names = [str(one.get("member_id") or one.get("member") or "") for one in asked if isinstance(one, Mapping)]
    developer = next(one for one in asker.tracker.ask("GET", "/roles.json")["roles"] if one["name"] == "Developer")
    for name in names:
        who = next((one for one in people if name in (serializers.identity("person", one["id"]), one["login"])), None)
        if who is None:
            raise DialectRefused(400, f"there is no person {name[:60]!r}")
        body = {"membership": {"user_id": who["id"], "role_ids": [developer["id"]]}}
        asker.tracker.ask("POST", f"/projects/{row['identifier']}/memberships.json", body)
    return _members(asker, words, given)


def _people(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**serializers.person(row), "role": 15} for row in asker.tracker.people()]


def _members(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {**serializers.person(row), "role": 15} for row in asker.tracker.members(asker.project(words[0])["identifier"])
    ]


def _states(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    asker.project(words[0])
    return [serializers.state(row, words[0], asker.workspace) for row in asker.tracker.statuses()]


def _state(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    return asker.row_by_id(_states(asker, words[:1], given), words[1], "State")


def _issues(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    row = asker.project(words[0])
    return [asker.issue_json(row, one) for one in asker.tracker.issues(row["id"])]


def _issue(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    row = asker.project(words[0])
    return asker.issue_json(row, asker.issue(row, words[1]))


def _add_issue(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    if not given.get("name"):
        raise DialectRefused(400, "name: This field is required.")
    row = asker.project(words[0])
    made = asker.tracker.add_issue({"project_id": row["identifier"], **asker.values(row, given)})
    return asker.apply_labels(row, made, given)


def _change_issue(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    row = asker.project(words[0])
    one = asker.issue(row, words[1])
    changed = asker.tracker.change_issue(one["id"], asker.values(row, given) or {"subject": one["subject"]})
    return asker.apply_labels(row, changed, given)


def _remove_issue(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> None:
    asker.tracker.ask("DELETE", f"/issues/{asker.issue(asker.project(words[0]), words[1])['id']}.json")


def _comments(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    one = asker.issue(asker.project(words[0]), words[1])
    said = asker.tracker.issue(one["id"], "journals").get("journals", [])
    return [serializers.comment(row, words[1], words[0], asker.workspace) for row in said if row.get("notes")]


def _add_comment(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    text = serializers.as_text(str(given.get("comment_html") or ""))
    if not text:
        raise DialectRefused(400, "comment_html: This field is required.")
    one = asker.issue(asker.project(words[0]), words[1])
    asker.tracker.ask("PUT", f"/issues/{one['id']}.json", {"issue": {"notes": text}})
    return _comments(asker, words, given)[-1]


def _cycles(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    row = asker.project(words[0])
    return [serializers.cycle(one, words[0], asker.workspace) for one in asker.tracker.versions(row["identifier"])]


def _cycle(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    return asker.row_by_id(_cycles(asker, words[:1], given), words[1], "Cycle")


def _add_cycle(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    if not given.get("name"):
        raise DialectRefused(400, "name: This field is required.")
    made = asker.tracker.add_version(asker.project(words[0])["identifier"], asker.cycle_values(given, {}))
    return serializers.cycle(made, words[0], asker.workspace)


def _change_cycle(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    row = asker.version(asker.project(words[0]), words[1])
    made = asker.tracker.change_version(row["id"], asker.cycle_values(given, row))
    return serializers.cycle(made, words[0], asker.workspace)


def _remove_cycle(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> None:
    asker.tracker.ask("DELETE", f"/versions/{asker.version(asker.project(words[0]), words[1])['id']}.json")


def _group_verbs(key: str) -> tuple[Verb, Verb, Verb]:
    """Return the functions that list, add and remove the issues of a cycle or module. `key` is the field of the tracker
    that names the cycle or module of an issue.
    """
    kept = {"fixed_version_id": "fixed_version", "category_id": "category"}[key]

    def group(asker: PlaneView, row: Mapping[str, Any], name: str) -> int:
        find = asker.version if key == "fixed_version_id" else asker.category
        return int(find(row, name)["id"])

    def list_issues(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
        row = asker.project(words[0])
        rows = asker.tracker.issues(row["id"], **{key: group(asker, row, words[1])})
        return [asker.issue_json(row, one) for one in rows]

    def add_issues(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
        row = asker.project(words[0])
        names, number_of = given.get("issues"), group(asker, row, words[1])
        if not isinstance(names, list) or not names:
            raise DialectRefused(400, "issues: a list of issues is required")
        for one in [asker.issue(row, str(name)) for name in names]:
            asker.tracker.change_issue(one["id"], {key: number_of})
        return {"issues": names}

    def remove_issue(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> None:
        row = asker.project(words[0])
        one, number_of = asker.issue(row, words[2]), group(asker, row, words[1])
        if (one.get(kept) or {}).get("id") != number_of:
            raise DialectRefused(404, "the module or cycle does not contain this issue")
        asker.tracker.change_issue(one["id"], {key: ""})

    return list_issues, add_issues, remove_issue


def _modules(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = asker.tracker.categories(asker.project(words[0])["identifier"])
    return [serializers.module(row, words[0], asker.workspace) for row in rows]


def _module(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    return asker.row_by_id(_modules(asker, words[:1], given), words[1], "Module")


def _add_module(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    row, name = asker.project(words[0]), str(given.get("name") or "")
    made = asker.tracker.add_category(row["identifier"], name)
    return serializers.module(made, words[0], asker.workspace)


def _labels(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = asker.kept.read(asker.project(words[0])["identifier"]).get("labels", [])
    return [serializers.label(row, words[0], asker.workspace) for row in rows]


def _add_label(asker: PlaneView, words: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    made = asker.add_label(asker.project(words[0]), given)
    return serializers.label(made, words[0], asker.workspace)


_IN_CYCLE, _IN_MODULE = _group_verbs("fixed_version_id"), _group_verbs("category_id")
ROUTES: tuple[tuple[str, list[str], Verb], ...] = tuple(
    (method, path.split("/"), verb)
    for method, path, verb in (
        ("GET", "members", _people),
        ("GET", "projects", _projects),
        ("POST", "projects", _add_project),
        ("GET", "projects/*", _project),
        ("DELETE", "projects/*", _remove_project),
        ("GET", "projects/*/members", _members),
        ("GET", "projects/*/project-members", _members),
        ("POST", "projects/*/members", _add_member),
        ("POST", "projects/*/project-members", _add_member),
        ("GET", "projects/*/states", _states),
        ("GET", "projects/*/states/*", _state),
        ("GET", "projects/*/issues", _issues),
        ("POST", "projects/*/issues", _add_issue),
        ("GET", "projects/*/issues/*", _issue),
        ("PATCH", "projects/*/issues/*", _change_issue),
        ("DELETE", "projects/*/issues/*", _remove_issue),
        ("GET", "projects/*/issues/*/comments", _comments),
        ("POST", "projects/*/issues/*/comments", _add_comment),
        ("GET", "projects/*/cycles", _cycles),
        ("POST", "projects/*/cycles", _add_cycle),
        ("GET", "projects/*/cycles/*", _cycle),
        ("PATCH", "projects/*/cycles/*", _change_cycle),
        ("DELETE", "projects/*/cycles/*", _remove_cycle),
        ("GET", "projects/*/cycles/*/cycle-issues", _IN_CYCLE[0]),
        ("POST", "projects/*/cycles/*/cycle-issues", _IN_CYCLE[1]),
        ("DELETE", "projects/*/cycles/*/cycle-issues/*", _IN_CYCLE[2]),
        ("GET", "projects/*/modules", _modules),
        ("POST", "projects/*/modules", _add_module),
        ("GET", "projects/*/modules/*", _module),
        ("GET", "projects/*/modules/*/module-issues", _IN_MODULE[0]),
        ("POST", "projects/*/modules/*/module-issues", _IN_MODULE[1]),
        ("DELETE", "projects/*/modules/*/module-issues/*", _IN_MODULE[2]),
        ("GET", "projects/*/labels", _labels),
        ("POST", "projects/*/labels", _add_label),
    )
)
