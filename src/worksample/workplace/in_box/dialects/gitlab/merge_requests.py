"""GitLab's API functions for merge requests between branches of one repository. The dialect stores merge requests
itself, because no service has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...company_time import company_now
from ..http_messages import DialectRefused, not_served
from .commits import commit_json
from .routing import Given, ListResponse, is_true, refuse_values, require_values, route, words_of
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]
MOST, MOST_NOTES = 5_000, 1_000
"""Maximum merge requests of a project, and notes of a merge request."""


def stamp() -> str:
    """Return the current time in GitLab's form."""
    return company_now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def is_draft(one: Mapping[str, Any]) -> bool:
    """Return whether the title of a merge request marks it as a draft, which cannot be merged."""
    return str(one["title"]).lower().startswith(("draft:", "[draft]", "(draft)"))


def current_head(project: GitLabProject, one: Mapping[str, Any]) -> str:
    """Return the commit of a merge request: of an open one, the current state of its branch."""
    kept = str(one["sha"])
    return project.code.branches().get(one["source"], kept) if one["state"] == "opened" else kept


def merge_request_json(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merge request in GitLab's form. An open merge request shows the current state of its branch."""
    head = current_head(project, one)
    assigned = [asker.user(asker.tracker.person(who)) for who in one["assignees"]]
    return {
        "id": project.id * 10_000 + one["iid"], "iid": one["iid"], "project_id": project.id, "title": one["title"],
        "description": one["description"], "state": one["state"], "draft": is_draft(one),
        "source_branch": one["source"], "target_branch": one["target"], "source_project_id": project.id,
        "target_project_id": project.id, "sha": head, "author": asker.user(asker.tracker.person(one["by"])),
        "assignee": assigned[0] if assigned else None, "assignees": assigned,
        "reviewers": [asker.user(asker.tracker.person(who)) for who in one["reviewers"]], "labels": one["labels"],
        "milestone": None, "created_at": one["created"], "updated_at": one["updated"],
        "merged_at": one.get("merged"), "merge_commit_sha": one.get("commit"), "squash": one.get("squash", False),
        "merged_by": asker.user(asker.tracker.person(one["merged_by"])) if one.get("merged_by") else None,
        "closed_at": one.get("closed"), "user_notes_count": len(one["notes"]), "upvotes": 0, "downvotes": 0,
        "work_in_progress": is_draft(one),
        "web_url": f"{asker.address(project)}/-/merge_requests/{one['iid']}",
        "references": {"short": f"!{one['iid']}", "full": f"{project.path}!{one['iid']}"},
    }  # fmt: skip


def _full_json(asker: GitLabView, project: GitLabProject, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merge request with the details that must be read from the repository."""
    found, code = merge_request_json(asker, project, one), project.code
    target = code.branches().get(one["target"])
    conflict = one["state"] == "opened" and target is not None and code.conflicts(target, found["sha"])
    base = one.get("base") or (code.merge_base(target, found["sha"]) if target else "")
    return {
        **found, "has_conflicts": conflict, "merge_status": "cannot_be_merged" if conflict else "can_be_merged",
        "detailed_merge_status": "conflict" if conflict else "mergeable",
        "changes_count": str(len(_diffs(project, one, found))),
        "diff_refs": {"base_sha": base, "head_sha": found["sha"], "start_sha": base},
    }  # fmt: skip


def _diffs(project: GitLabProject, one: Mapping[str, Any], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    target = project.code.branches().get(one["target"], "")
    base = one.get("base") or (project.code.merge_base(target, found["sha"]) if target else "")
    return project.code.difference(base, found["sha"])


def find_merge_request(kept: Mapping[str, Any], number: str) -> dict[str, Any]:
    """Return the merge request with a number. Raises DialectRefused (404)."""
    found: list[dict[str, Any]] = kept.get("merge_requests", [])
    for one in found:
        if str(one["iid"]) == number:
            return one
    raise DialectRefused(404, "404 Merge Request Not Found")


@route("GET", "projects/:id/merge_requests")
def merge_requests(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    refuse_values(given, "milestone", "my_reaction_emoji", "approved_by_ids", "environment")
    rows = list(asker.kept.read(project.name).get("merge_requests", []))
    state = str(given.get("state", "all"))
    rows = [one for one in rows if state in ("all", one["state"])]
    for key, kept in (("source_branch", "source"), ("target_branch", "target")):
        rows = [one for one in rows if given.get(key) in (None, "", one[kept])]
    if searched := str(given.get("search", "")).lower():
        rows = [one for one in rows if searched in f"{one['title']}\n{one['description']}".lower()]
    if labels := words_of(given.get("labels")):
        rows = [one for one in rows if set(labels) <= set(one["labels"])]
    if given.get("author_username"):
        rows = [one for one in rows if one["by"] == given["author_username"]]
    key = "updated" if given.get("order_by") == "updated_at" else "iid"
    rows.sort(key=lambda one: one[key], reverse=given.get("sort", "desc") == "desc")
    return ListResponse(rows, lambda one: merge_request_json(asker, project, one))


@route("GET", "projects/:id/merge_requests/:iid")
def merge_request(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    return _full_json(asker, project, find_merge_request(asker.kept.read(project.name), named["iid"]))


@route("POST", "projects/:id/merge_requests")
def add_merge_request(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "source_branch", "target_branch", "title")
    project = asker.project(named["id"])
    refuse_values(given, "milestone_id", "approvals_before_merge")
    if str(given.get("target_project_id") or project.id) != str(project.id):
        raise not_served("merge requests between projects")
    source, target = str(given["source_branch"]), str(given["target_branch"])
    branches = project.code.branches()
    if source == target or source not in branches or target not in branches:
        raise DialectRefused(400, "the source branch and the target branch must be two branches of the project")
    now = stamp()
    made = {
        "title": "", "description": "", "labels": [], "assignees": [], "reviewers": [],
        **_values(asker, given), "source": source, "target": target, "state": "opened", "by": asker.who.name,
        "sha": branches[source], "created": now, "updated": now, "notes": [],
    }  # fmt: skip
    with asker.kept.edit(project.name) as kept:
        rows = kept.setdefault("merge_requests", [])
        if any((one["state"], one["source"], one["target"]) == ("opened", source, target) for one in rows):
            raise DialectRefused(409, "Another open merge request already exists for this source branch")
        if len(rows) >= MOST:
            raise DialectRefused(403, "the project has too many merge requests")
        made["iid"] = len(rows) + 1
        rows.append(made)
    return _full_json(asker, project, made)


def _values(asker: GitLabView, given: Given) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, most in (("title", 255), ("description", 1 << 20)):
        if key in given:
            values[key] = str(given[key] or "")[:most]
    if "labels" in given:
        values["labels"] = words_of(given["labels"])
    for key, kept in (("assignee", "assignees"), ("reviewer", "reviewers")):
        people = given.get(f"{key}_ids", given.get(f"{key}_ids[]", given.get(f"{key}_id")))
        if people is not None:
            values[kept] = [asker.tracker.person(one)["login"] for one in words_of(people) if one != "0"]
    return values


@route("PUT", "projects/:id/merge_requests/:iid")
def change_merge_request(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    refuse_values(given, "milestone_id", "discussion_locked")
    with asker.kept.edit(project.name) as kept:
        one = find_merge_request(kept, named["iid"])
        if given.get("target_branch") and given["target_branch"] not in project.code.branches():
            raise DialectRefused(400, "the target branch is not a branch of the project")
        one |= {**_values(asker, given), "target": str(given.get("target_branch") or one["target"]), "updated": stamp()}
        for name in words_of(given.get("add_labels")):
            one["labels"] = list(dict.fromkeys([*one["labels"], name]))
        one["labels"] = [name for name in one["labels"] if name not in words_of(given.get("remove_labels"))]
        if (event := given.get("state_event")) is not None:
            _change_state(project, one, str(event))
    return _full_json(asker, project, one)


def _change_state(project: GitLabProject, one: dict[str, Any], event: str) -> None:
    before, after = {"close": ("opened", "closed"), "reopen": ("closed", "opened")}.get(event, ("", ""))
    if not after:
        raise DialectRefused(400, "state_event must be close or reopen")
    if one["state"] == "merged":
        raise DialectRefused(405, "405 Method Not Allowed - it is merged")
    if one["state"] == before:
        one["sha"] = project.code.branches().get(one["source"], one["sha"])
        one |= {"state": after, "closed": stamp() if after == "closed" else None}


@route("PUT", "projects/:id/merge_requests/:iid/merge")
def merge(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    refuse_values(given, "merge_when_pipeline_succeeds", "auto_merge")
    code = project.code
    with asker.kept.edit(project.name) as kept:
        one = find_merge_request(kept, named["iid"])
        branches = code.branches()
        if one["state"] != "opened" or one["source"] not in branches or one["target"] not in branches:
            raise DialectRefused(405, "405 Method Not Allowed")
        if is_draft(one):
            raise DialectRefused(405, "405 Method Not Allowed - it is a draft")
        head = branches[one["source"]]
        if given.get("sha") and given["sha"] != head:
            raise DialectRefused(409, "SHA does not match HEAD of source branch")
        squash = is_true(given.get("squash"))
        message = str(given.get("squash_commit_message" if squash else "merge_commit_message") or "")
        message = message or f"Merge branch '{one['source']}' into '{one['target']}'\n\n{one['title']}"
        base = code.merge_base(branches[one["target"]], head)
        made = code.merge(one["target"], head, message, asker.author, squash=squash)
        if made is None:
            raise DialectRefused(422, "Branch cannot be merged")
        now = stamp()
        one |= {
            "state": "merged", "sha": head, "merged": now, "updated": now, "commit": made, "merged_by": asker.who.name,
            "squash": squash, "base": base,
        }  # fmt: skip
    if is_true(given.get("should_remove_source_branch")) and one["source"] != code.default_branch():
        code.remove(f"refs/heads/{one['source']}")
    return _full_json(asker, project, one)


@route("GET", "projects/:id/merge_requests/:iid/diffs")
def diffs(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    one = find_merge_request(asker.kept.read(project.name), named["iid"])
    return ListResponse(_diffs(project, one, merge_request_json(asker, project, one)))


@route("GET", "projects/:id/merge_requests/:iid/changes")
def changes(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.project(named["id"])
    one = find_merge_request(asker.kept.read(project.name), named["iid"])
    found = _full_json(asker, project, one)
    return {**found, "changes": _diffs(project, one, found), "overflow": False}


@route("GET", "projects/:id/merge_requests/:iid/commits")
def commits(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    found = _full_json(asker, project, find_merge_request(asker.kept.read(project.name), named["iid"]))
    rows = project.code.log(found["sha"], without=found["diff_refs"]["base_sha"])
    return ListResponse(rows, lambda one: commit_json(asker, project, one))


@route("GET", "projects/:id/merge_requests/:iid/notes")
def notes(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project = asker.project(named["id"])
    one = find_merge_request(asker.kept.read(project.name), named["iid"])
    rows = one["notes"] if given.get("sort") == "asc" else one["notes"][::-1]
    return ListResponse(rows, lambda said: _note_json(asker, one, said))


@route("POST", "projects/:id/merge_requests/:iid/notes")
def add_note(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "body")
    project = asker.project(named["id"])
    with asker.kept.edit(project.name) as kept:
        one = find_merge_request(kept, named["iid"])
        if len(one["notes"]) >= MOST_NOTES:
            raise DialectRefused(403, "the merge request has too many notes")
        said = {"id": one["iid"] * MOST_NOTES + len(one["notes"]) + 1, "body": str(given["body"])[: 1 << 20]}
        said |= {"by": asker.who.name, "at": stamp()}
        if given.get("position"):
            said |= {"position": _position(given["position"])}
        one["notes"].append(said)
    return _note_json(asker, one, said)


def _position(given: object) -> dict[str, Any]:
    """Return the line of a difference that a note is about, of what a client sent."""
    if not isinstance(given, Mapping) or not given.get("new_path") or given.get("position_type", "text") != "text":
        raise DialectRefused(400, "position must name a line of a text: new_path, and new_line or old_line")
    lines = {key: int(given[key]) for key in ("old_line", "new_line") if str(given.get(key) or "").isdigit()}
    path = str(given["new_path"])[:4096]
    return {"position_type": "text", "new_path": path, "old_path": str(given.get("old_path") or path)[:4096], **lines}


def _note_json(asker: GitLabView, one: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": said["id"], "body": said["body"], "author": asker.user(asker.tracker.person(said["by"])),
        "system": False, "created_at": said["at"], "updated_at": said["at"], "noteable_iid": one["iid"],
        "noteable_type": "MergeRequest", "resolvable": False, "internal": False,
        "type": "DiffNote" if said.get("position") else None,
        **({"position": said["position"]} if said.get("position") else {}),
    }  # fmt: skip
