"""Pages of merge requests: the list, a new one, and one with its discussion, commits, changes and checks. Buttons call
the functions of GitLab's API, so that a page and a program do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..dialects.gitlab import approvals, merge_requests, statuses
from ..dialects.gitlab.routing import ListResponse
from ..dialects.http_messages import DialectRefused, DialectResponse
from .code_pages import PER_PAGE
from .page_request import PageRequest, page, redirect
from .text import file_diffs

STATES = ("opened", "merged", "closed", "all")
TABS = {"overview": "Overview", "commits": "Commits", "diffs": "Changes", "checks": "Checks"}


@page("GET", "/-/merge_requests")
def list_page(request: PageRequest) -> DialectResponse:
    """Return the list of merge requests in a state."""
    state = request.form.get("state", "opened")
    state = state if state in STATES else "opened"
    rows = _rows(merge_requests.merge_requests(request.view, request.named, {}))
    counts = {one: sum(one in ("all", row["state"]) for row in rows) for one in STATES}
    shown = [row for row in rows if state in ("all", row["state"])]
    return request.page(
        "merge_requests.html", "Merge requests", tab="merge_requests", rows=shown[:PER_PAGE], state=state,
        counts=counts, more=max(0, len(shown) - PER_PAGE),
    )  # fmt: skip


def _rows(found: ListResponse) -> list[dict[str, Any]]:
    return [found.render(row) for row in found.rows]


@page("GET", "/-/merge_requests/new")
def new(request: PageRequest) -> DialectResponse:
    """Return the form of a new merge request. If the form names its branches, it shows what would be merged."""
    code, form = request.here.code, request.form
    branches = list(code.branches())
    source = form.get("source", form.get("merge_request[source_branch]", ""))
    target = form.get("target", form.get("merge_request[target_branch]", code.default_branch() or ""))
    rows, files, clash = [], [], False
    if source in branches and target in branches and source != target:
        old, head = code.resolve(target), code.resolve(source)
        rows = code.log(head, without=old)
        files = file_diffs(code.difference(code.merge_base(old, head), head))
        clash = code.conflicts(old, head)
    return request.page(
        "new_merge_request.html", "New merge request", tab="merge_requests", branches=branches, source=source,
        target=target, rows=rows, files=files, clash=clash, noting=None, people=request.people,
    )  # fmt: skip


@page("POST", "/-/merge_requests")
def create(request: PageRequest) -> DialectResponse:
    """Create a merge request."""
    keys = ("source_branch", "target_branch", "title", "description")
    given: dict[str, Any] = {key: request.form.get(key, "").replace("\r\n", "\n") for key in keys}
    given |= {"assignee_id": request.session.who.name, "reviewer_id": _person(request, "reviewer") or "0"}
    made = merge_requests.add_merge_request(request.view, request.named, given)
    return redirect(request.address("merge_requests", str(made["iid"])), request.session.who.name)


def _person(request: PageRequest, key: str) -> str:
    name = request.form.get(key, "")
    if name and name not in [one["login"] for one in request.people]:
        raise DialectRefused(400, f"Nobody here has the account {name[:60]}.")
    return name


@page("GET", r"/-/merge_requests/(?P<iid>\d+)(?:/(?P<part>commits|diffs|checks))?")
def show_page(request: PageRequest) -> DialectResponse:
    """Return a page of a merge request."""
    iid, part = request.words[0], request.words[1] or "overview"
    named = {**request.named, "iid": iid}
    one = merge_requests.merge_request(request.view, named, {})
    said = _rows(merge_requests.notes(request.view, named, {"sort": "asc"}))
    more: dict[str, Any] = {"files": [], "rows": [], "noting": None}
    if part == "diffs":
        changed = merge_requests.diffs(request.view, named, {})
        more["files"] = file_diffs(_rows(changed), said)
        more["noting"] = {key: request.form.get(key, "") for key in ("path", "old", "new")}
    elif part == "commits":
        more["rows"] = _rows(merge_requests.commits(request.view, named, {}))
    return request.page(
        "merge_request.html", f"{one['title']} (!{iid})", tab="merge_requests", one=one, part=part, tabs=TABS,
        notes=said, people=request.people, approved=approvals.approvals(request.view, named, {})["approved_by"],
        statuses=_statuses(request, one["sha"]), mine=_approved_by_me(request, named), **more,
    )  # fmt: skip


def _statuses(request: PageRequest, sha: str) -> list[dict[str, Any]]:
    return _rows(statuses.commit_statuses(request.view, {**request.named, "sha": sha}, {}))


def _approved_by_me(request: PageRequest, named: Mapping[str, str]) -> bool:
    return bool(approvals.approvals(request.view, named, {})["user_has_approved"])


def _note(request: PageRequest, named: Mapping[str, str]) -> str:
    form = request.form
    given: dict[str, Any] = {"body": form.get("body", "").replace("\r\n", "\n").strip()}
    if form.get("path"):
        lines = {f"{side}_line": int(form[side]) for side in ("old", "new") if form.get(side, "").isdigit()}
        given["position"] = {"position_type": "text", "new_path": form["path"], "old_path": form["path"], **lines}
    merge_requests.add_note(request.view, named, given)
    return "diffs" if form.get("path") else ""


def _merge(request: PageRequest, named: Mapping[str, str]) -> str:
    form = request.form
    given = {key: form.get(key, "") for key in ("squash", "should_remove_source_branch", "sha")}
    merge_requests.merge(request.view, named, given)
    return ""


def _edit(request: PageRequest, named: Mapping[str, str]) -> str:
    given: dict[str, Any] = {key: request.form.get(key, "").replace("\r\n", "\n") for key in ("title", "description")}
    if not given["title"].strip():
        raise DialectRefused(400, "A merge request needs a title.")
    given |= {f"{key}_id": _person(request, key) or "0" for key in ("assignee", "reviewer")}
    merge_requests.change_merge_request(request.view, named, given)
    return ""


def _change(**given: str) -> Callable[[PageRequest, Mapping[str, str]], str]:
    def work(request: PageRequest, named: Mapping[str, str]) -> str:
        merge_requests.change_merge_request(request.view, named, given)
        return ""

    return work


def _approve(request: PageRequest, named: Mapping[str, str]) -> str:
    approvals.approve(request.view, named, {"sha": request.form.get("sha", "")})
    return ""


def _unapprove(request: PageRequest, named: Mapping[str, str]) -> str:
    approvals.unapprove(request.view, named, {})
    return ""


_DEEDS: dict[str, Callable[[PageRequest, Mapping[str, str]], str]] = {
    "note": _note, "merge": _merge, "edit": _edit, "approve": _approve, "unapprove": _unapprove,
    "close": _change(state_event="close"), "reopen": _change(state_event="reopen"),
}  # fmt: skip


@page("POST", rf"/-/merge_requests/(?P<iid>\d+)/(?P<deed>{'|'.join(_DEEDS)})")
def act(request: PageRequest) -> DialectResponse:
    """Do what a button of a merge request's page asks for."""
    iid, deed = request.words
    part = _DEEDS[deed](request, {**request.named, "iid": iid})
    words = ("merge_requests", iid, *([part] if part else []))
    return redirect(request.address(*words), request.session.who.name)
