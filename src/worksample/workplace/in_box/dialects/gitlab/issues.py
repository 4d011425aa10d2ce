"""GitLab's API functions for issues and their notes. The number of an issue is its number in the tracker, unless the
company gave numbers to the project's issues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..http_messages import DialectRefused, not_served
from ..json_tables import issue_with_number, labels_of, number_of, set_labels
from ..tracker import Row
from .milestones import milestone_json, version_of
from .routing import Given, ListResponse, refuse_values, require_values, route, words_of
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]
UNSERVED = (
    "weight",
    "epic_id",
    "iteration_id",
    "confidential",
    "discussion_locked",
    "merge_request_to_resolve_discussions_of",
)


def issue_json(asker: GitLabView, project: GitLabProject, row: Row) -> dict[str, Any]:
    """Return an issue in GitLab's form."""
    closed, person = row["status"]["is_closed"], asker.user_of(row.get("assigned_to"))
    number = number_of(asker.kept.read(project.name), row["id"])
    address = f"{asker.address(project)}/-/issues/{number}"
    return {
        "id": row["id"], "iid": number, "project_id": project.id, "title": row["subject"],
        "description": row["description"] or "", "state": "closed" if closed else "opened", "type": "ISSUE",
        "issue_type": "issue", "created_at": row["created_on"], "updated_at": row["updated_on"],
        "closed_at": row.get("closed_on") if closed else None, "closed_by": None,
        "labels": labels_of(asker.kept.read(project.name), row["id"]), "milestone": _milestone_of(asker, project, row),
        "author": asker.user_of(row["author"]), "assignee": person, "assignees": [person] if person else [],
        "due_date": row.get("due_date"), "confidential": row.get("is_private", False), "weight": None,
        "upvotes": 0, "downvotes": 0, "merge_requests_count": 0, "web_url": address,
        "references": {"short": f"#{number}", "relative": f"#{number}", "full": f"{project.path}#{number}"},
    }  # fmt: skip


def _milestone_of(asker: GitLabView, project: GitLabProject, row: Row) -> dict[str, Any] | None:
    wanted_one = row.get("fixed_version")
    if wanted_one is None:
        return None
    return milestone_json(asker, project, asker.tracker.version(wanted_one["id"]))


# Issues


@route("GET", "issues")
def all_issues(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    by_number = {one.row["id"]: one for one in asker.projects() if one.row is not None}
    rows = _select_issues(asker, None, {"scope": "created_by_me", **given})
    rows = [row for row in rows if row["project"]["id"] in by_number]
    return ListResponse(rows, lambda row: issue_json(asker, by_number[row["project"]["id"]], row))


@route("GET", "projects/:id/issues")
def issues(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    # A project that is only a repository has no issues.
    rows = _select_issues(asker, project, given) if project.row is not None else []
    return ListResponse(rows, lambda row: issue_json(asker, project, row))


def _select_issues(asker: GitLabView, project: GitLabProject | None, given: Given) -> list[Row]:
    refuse_values(given, "my_reaction_emoji", "weight", "iteration_id", "confidential", "epic_id")
    rows = asker.tracker.issues(None if project is None else (project.row or {})["id"])
    if state := {"opened": False, "closed": True}.get(str(given.get("state", "all"))):
        rows = [row for row in rows if row["status"]["is_closed"]]
    elif state is False:
        rows = [row for row in rows if not row["status"]["is_closed"]]
    if searched := str(given.get("search", "")).lower():
        within = str(given.get("in", "title,description"))
        rows = [row for row in rows if searched in _text(row, within)]
    if numbers := words_of(given.get("iids") or given.get("iids[]")):
        own = asker.kept.read(project.name) if project is not None else {}
        rows = [row for row in rows if str(number_of(own, row["id"])) in numbers]
    rows = [row for row in rows if _matches_people(asker, row, given) and _matches_times(row, given)]
    if labels := words_of(given.get("labels")):
        rows = [row for row in rows if _has_labels(asker, project, row, labels)]
    if milestone := given.get("milestone"):
        rows = [row for row in rows if (row.get("fixed_version") or {}).get("name", "None") == milestone]
    return _sort_issues(rows, given)


def _text(row: Row, within: str) -> str:
    return "\n".join(
        str(row[key] or "") for key, name in (("subject", "title"), ("description", "description")) if name in within
    ).lower()


def _matches_people(asker: GitLabView, row: Row, given: Given) -> bool:
    me = asker.me["id"]
    for key, kept in (("author", "author"), ("assignee", "assigned_to")):
        there = (row.get(kept) or {}).get("id")
        asked = given.get(f"{key}_id")
        if asked not in (None, "", "Any") and str(asked) != ("None" if there is None else str(there)):
            return False
        if given.get(f"{key}_username") and there != asker.tracker.person(given[f"{key}_username"])["id"]:
            return False
    scope = given.get("scope")
    mine = {"created_by_me": "author", "created-by-me": "author", "assigned_to_me": "assigned_to"}.get(str(scope))
    return mine is None or (row.get(mine) or {}).get("id") == me


def _matches_times(row: Row, given: Given) -> bool:
    for key, kept in (("created", "created_on"), ("updated", "updated_on")):
        after, before = str(given.get(f"{key}_after", "")), str(given.get(f"{key}_before", ""))
        if (after and row[kept] < after) or (before and row[kept] > before):
            return False
    return True


def _has_labels(asker: GitLabView, project: GitLabProject | None, row: Row, labels: list[str]) -> bool:
    if project is None:
        raise not_served("labels of issues of all projects at once")
    has = labels_of(asker.kept.read(project.name), row["id"])
    if labels == ["None"]:
        return not has
    return bool(has) if labels == ["Any"] else set(labels) <= set(has)


def _sort_issues(rows: list[Row], given: Given) -> list[Row]:
    by = str(given.get("order_by", "created_at"))
    keys = {"created_at": "created_on", "updated_at": "updated_on", "due_date": "due_date", "title": "subject"}
    if by not in keys:
        raise not_served(f"issues ordered by {by}")
    down = given.get("sort", "desc") == "desc"
    return sorted(rows, key=lambda row: (str(row.get(keys[by]) or ""), row["id"]), reverse=down)


@route("GET", "projects/:id/milestones/:milestone/issues")
def milestone_issues(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.tracked_project(named["id"])
    number = version_of(asker, project, named["milestone"])["id"]
    rows = asker.tracker.issues((project.row or {})["id"], fixed_version_id=number)
    return ListResponse(rows, lambda row: issue_json(asker, project, row))


def find_issue(asker: GitLabView, project: GitLabProject, number: str, include: str = "") -> Row:
    """Return an issue of the project by its number. Raises DialectRefused (404) if the project does not have it."""
    if number.isdigit():
        row = asker.tracker.issue(issue_with_number(asker.kept.read(project.name), number), include)
        if row["project"]["id"] == (project.row or {})["id"]:
            return row
    raise DialectRefused(404, "404 Issue Not Found")


@route("GET", "projects/:id/issues/:iid")
def issue(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.tracked_project(named["id"])
    row = find_issue(asker, project, named["iid"], "journals")
    return {**issue_json(asker, project, row), "user_notes_count": len(_journal_notes(row))}


@route("POST", "projects/:id/issues")
def add_issue(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "title")
    project = asker.tracked_project(named["id"])
    refuse_values(given, *UNSERVED, "created_at", "iid")
    row = asker.tracker.add_issue({"project_id": project.name, **_values(asker, project, given)})
    if labels := words_of(given.get("labels")):
        with asker.kept.edit(project.name) as kept:
            set_labels(kept, row["id"], labels)
    return issue_json(asker, project, row)


@route("PUT", "projects/:id/issues/:iid")
def change_issue(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.tracked_project(named["id"])
    refuse_values(given, *UNSERVED)
    row = find_issue(asker, project, named["iid"])
    values = _values(asker, project, given)
    if (event := given.get("state_event")) is not None:
        if event not in ("close", "reopen"):
            raise DialectRefused(400, "state_event must be close or reopen")
        if row["status"]["is_closed"] != (event == "close"):
            values["status_id"] = _status(asker, event == "close")
    if values:
        row = asker.tracker.change_issue(row["id"], values)
    _relabel(asker, project, row, given)
    return issue_json(asker, project, row)


def _relabel(asker: GitLabView, project: GitLabProject, row: Row, given: Given) -> None:
    if not {"labels", "add_labels", "remove_labels"} & given.keys():
        return
    # The tracker has no labels, so an empty change tests whether this account may change the issue.
    asker.tracker.change_issue(row["id"], {"subject": row["subject"]})
    with asker.kept.edit(project.name) as kept:
        names = words_of(given["labels"]) if "labels" in given else labels_of(kept, row["id"])
        names += words_of(given.get("add_labels"))
        gone = words_of(given.get("remove_labels"))
        set_labels(kept, row["id"], [name for name in names if name not in gone])


def _status(asker: GitLabView, closed: bool) -> int:
    usual = "Closed" if closed else "In Progress"
    rows = [one for one in asker.tracker.statuses() if one["is_closed"] == closed]
    return int(next((one for one in rows if one["name"] == usual), rows[0])["id"])


def _values(asker: GitLabView, project: GitLabProject, given: Given) -> dict[str, object]:
    """Return the tracker's fields for the values of an issue that a client sent."""
    values: dict[str, object] = {}
    for key, kept in (("title", "subject"), ("description", "description"), ("due_date", "due_date")):
        if key in given:
            values[kept] = given[key] or ""
    people = given.get("assignee_ids", given.get("assignee_ids[]", given.get("assignee_id")))
    if people is not None:
        numbers = [one for one in words_of(people) if one != "0"]
        if len(numbers) > 1:
            raise not_served("more than one assignee: the tracker has one")
        values["assigned_to_id"] = int(asker.tracker.person(numbers[0])["id"]) if numbers else ""
    if "milestone_id" in given:
        number = str(given["milestone_id"] or "0")
        values["fixed_version_id"] = "" if number == "0" else int(version_of(asker, project, number)["id"])
    return values


@route("DELETE", "projects/:id/issues/:iid")
def remove_issue(asker: GitLabView, named: Named, given: Given) -> None:
    row = find_issue(asker, asker.tracked_project(named["id"]), named["iid"])
    asker.tracker.ask("DELETE", f"/issues/{row['id']}.json")


# Notes


@route("GET", "projects/:id/issues/:iid/notes")
def notes(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    row = find_issue(asker, asker.tracked_project(named["id"]), named["iid"], "journals")
    rows = _journal_notes(row)
    if given.get("sort", "desc") == "desc":
        rows.reverse()
    return ListResponse(rows, lambda one: _note_json(asker, row, one))


@route("GET", "projects/:id/issues/:iid/notes/:note")
def note(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    row = find_issue(asker, asker.tracked_project(named["id"]), named["iid"], "journals")
    for one in _journal_notes(row):
        if str(one["id"]) == named["note"]:
            return _note_json(asker, row, one)
    raise DialectRefused(404, "404 Note Not Found")


@route("POST", "projects/:id/issues/:iid/notes")
def add_note(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "body")
    refuse_values(given, "internal", "confidential", "created_at")
    row = find_issue(asker, asker.tracked_project(named["id"]), named["iid"])
    asker.tracker.ask("PUT", f"/issues/{row['id']}.json", {"issue": {"notes": str(given["body"])}})
    row, me = asker.tracker.issue(row["id"], "journals"), asker.me["id"]
    return _note_json(asker, row, [one for one in _journal_notes(row) if one["user"]["id"] == me][-1])


def _journal_notes(row: Row) -> list[Row]:
    return [one for one in row.get("journals", []) if one.get("notes")]


def _note_json(asker: GitLabView, row: Row, one: Row) -> dict[str, Any]:
    return {
        "id": one["id"], "body": one["notes"], "author": asker.user_of(one.get("user")), "system": False,
        "created_at": one["created_on"], "updated_at": one["created_on"], "noteable_id": row["id"],
        "noteable_iid": row["id"], "noteable_type": "Issue", "resolvable": False, "internal": False,
    }  # fmt: skip
