"""Pages of code: repositories, folders, files, history, commits, branches, and edits of a file."""

from __future__ import annotations

from typing import Any

from ..dialects.bare_repository import BareRepository, FileChange, NotFound, check_path
from ..dialects.http_messages import DialectRefused, DialectResponse
from .page_request import PageRequest, page, redirect
from .text import code_lines, file_diffs

PER_PAGE = 40
"""Commits on one page of the history."""
LARGEST = 1 << 20
"""Maximum bytes of a file that is shown; a larger one can be downloaded."""
MOST_ENTRIES = 2_000


@page("GET", "^/(?:dashboard/projects|explore|root)?")
def projects(request: PageRequest) -> DialectResponse:
    """Return the list of repositories."""
    rows = []
    for one in request.view.projects():
        branch = one.code.default_branch()
        last = one.code.commit(branch) if branch else None
        rows.append({"name": one.name, "path": one.path, "about": about(one.code), "last": last})
    return request.page("projects.html", "Repositories", rows=rows)


def about(code: BareRepository) -> str:
    """Return the description of a repository."""
    try:
        text = (code.place / "description").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    return "" if text.startswith("Unnamed repository") else text[:500]


@page("GET", "")
def start(request: PageRequest) -> DialectResponse:
    """Return the start page of a repository: the default branch with its README."""
    branch = request.here.code.default_branch()
    if branch is None:
        return request.page("empty.html", request.here.name, tab="code")
    return _folder(request, branch, "")


@page("GET", "/-/tree/(?P<place>.+)")
def tree(request: PageRequest) -> DialectResponse:
    """Return the page of a folder."""
    return _folder(request, *split_place(request.here.code, request.words[0]))


def _folder(request: PageRequest, ref: str, path: str) -> DialectResponse:
    code = request.here.code
    rows = sorted(code.tree(ref, path, False), key=lambda one: (one["type"] != "tree", one["name"].lower()))
    readme = next((one for one in rows if one["name"].lower() in ("readme.md", "readme.txt", "readme")), None)
    text = ""
    if readme is not None and readme["type"] == "blob":
        data = code.file(ref, readme["path"])[2]
        text = data[:LARGEST].decode("utf-8", "replace") if b"\0" not in data[:8000] else ""
    last = code.commit(code.last_change(code.resolve(ref), path) or ref) if path else code.commit(ref)
    return request.page(
        "tree.html", f"{path or request.here.name} · {ref}", tab="code", ref=ref, path=path, rows=rows[:MOST_ENTRIES],
        more=max(0, len(rows) - MOST_ENTRIES), readme=readme, text=text, last=last, branches=list(code.branches()),
        about=about(code), crumbs=crumbs(path), editable=ref in code.branches(),
    )  # fmt: skip


@page("GET", "/-/blob/(?P<place>.+)")
def blob(request: PageRequest) -> DialectResponse:
    """Return the page of a file."""
    code = request.here.code
    ref, path = split_place(code, request.words[0])
    commit, _, data = code.file(ref, path)
    shown = len(data) <= LARGEST and b"\0" not in data[:8000]
    text = data.decode("utf-8", "replace") if shown else ""
    as_page = path.lower().endswith(".md") and request.form.get("plain") != "1"
    return request.page(
        "blob.html", f"{path} · {ref}", tab="code", ref=ref, path=path, shown=shown, size=len(data), text=text,
        lines=code_lines(path, text) if shown and not as_page else [], as_page=as_page, crumbs=crumbs(path),
        last=code.commit(code.last_change(commit, path) or commit), editable=shown and ref in code.branches(),
    )  # fmt: skip


@page("GET", "/-/raw/(?P<place>.+)")
def raw(request: PageRequest) -> DialectResponse:
    """Return a file as it is. A browser never takes it for a page."""
    ref, path = split_place(request.here.code, request.words[0])
    data = request.here.code.file(ref, path)[2]
    text = b"\0" not in data[:8000]
    heads = {
        "Content-Type": "text/plain; charset=utf-8" if text else "application/octet-stream",
        "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
        **({} if text else {"Content-Disposition": "attachment"}),
    }  # fmt: skip
    return DialectResponse(200, data, heads, request.session.who.name)


@page("GET", "/-/commits(?:/(?P<place>.+))?")
def commits(request: PageRequest) -> DialectResponse:
    """Return the history of a branch, or of a file or folder of it."""
    code = request.here.code
    ref, path = split_place(code, request.words[0] or code.default_branch() or "")
    number = max(1, int(request.form.get("page", "1")) if request.form.get("page", "1").isdigit() else 1)
    rows = code.log(ref, path=path)
    cut = rows[(number - 1) * PER_PAGE : number * PER_PAGE]
    return request.page(
        "commits.html", f"History of {path or ref}", tab="commits", ref=ref, path=path, rows=cut, number=number,
        total=len(rows), more=number * PER_PAGE < len(rows), branches=list(code.branches()), crumbs=crumbs(path),
    )  # fmt: skip


@page("GET", "/-/commit/(?P<sha>[0-9a-f]{4,64})")
def commit(request: PageRequest) -> DialectResponse:
    """Return a commit with its changes."""
    code = request.here.code
    one = code.commit(request.words[0])
    rows = code.difference(next(iter(one["parent_ids"]), ""), one["id"])
    return request.page("commit.html", one["title"], tab="commits", one=one, files=file_diffs(rows), noting=None)


@page("GET", "/-/branches")
def branches(request: PageRequest) -> DialectResponse:
    """Return all branches with their last commits."""
    code = request.here.code
    rows: list[dict[str, Any]] = [{"name": name, "last": code.commit(at)} for name, at in code.branches().items()]
    rows.sort(key=lambda one: str(one["last"]["committed_date"]), reverse=True)
    return request.page("branches.html", "Branches", tab="branches", rows=rows, default=code.default_branch())


@page("POST", "/-/branches")
def add_branch(request: PageRequest) -> DialectResponse:
    """Create a branch."""
    from ..dialects.gitlab.branches import add_branch as add

    name = request.form.get("branch", "").strip()
    add(request.view, request.named, {"branch": name, "ref": request.form.get("ref", "")})
    return redirect(request.address("tree", name), request.session.who.name)


@page("POST", "/-/branches/(?P<branch>.+)/delete")
def remove_branch(request: PageRequest) -> DialectResponse:
    """Delete a branch."""
    from ..dialects.gitlab.branches import remove_branch as remove

    remove(request.view, {**request.named, "name": request.words[0]}, {})
    return redirect(request.address("branches"), request.session.who.name)


@page("GET", "/-/tags")
def tags(request: PageRequest) -> DialectResponse:
    """Return all tags."""
    return request.page("tags.html", "Tags", tab="tags", rows=request.here.code.tags())


@page("GET", "/-/(?:edit|new)/(?P<place>.+)")
def edit(request: PageRequest) -> DialectResponse:
    """Return the form that changes a file, or makes one if the address names only a branch."""
    code = request.here.code
    ref, path = split_place(code, request.words[0])
    text, at = "", code.resolve(ref)
    if path:
        data = code.file(ref, path)[2]
        if len(data) > LARGEST or b"\0" in data:
            raise DialectRefused(400, "This file is not a text that can be edited here.")
        text = data.decode("utf-8", "replace")
    return request.page(
        "edit.html", f"Edit {path}" if path else "New file", tab="code", ref=ref, path=path, text=text, at=at
    )


@page("POST", "/-/edit/(?P<place>.+)")
def save(request: PageRequest) -> DialectResponse:
    """Commit a changed file to its branch or to a new branch."""
    code, form = request.here.code, request.form
    ref, old = split_place(code, request.words[0])
    path = check_path(form.get("path", ""))
    if not path:
        raise DialectRefused(400, "Name the file.")
    branch = form.get("branch", "").strip() or ref
    if branch in code.branches() and code.resolve(branch) != form.get("at"):
        raise DialectRefused(409, f"{branch} has a new commit since you opened the file. Open it again.")
    text = form.get("text", "").replace("\r\n", "\n")
    text += "" if text.endswith("\n") or not text else "\n"
    changes = [FileChange(path, text.encode()), *([FileChange(old, None)] if old and old != path else [])]
    message = form.get("message", "").strip() or f"{'Update' if old else 'Add'} {path.rpartition('/')[2]}"
    code.commit_changes(branch, ref, changes, message, request.view.author)
    return redirect(request.address("blob", branch, path), request.session.who.name)


def split_place(code: BareRepository, place: str) -> tuple[str, str]:
    """Return the branch, tag or digest at the beginning of a place, and the path after it. Names may have slashes."""
    names = [*code.branches(), *(str(one["name"]) for one in code.tags())]
    for name in sorted(names, key=len, reverse=True):
        if place == name or place.startswith(f"{name}/"):
            return name, check_path(place[len(name) :])
    ref, _, path = place.partition("/")
    if not ref:
        raise NotFound("Branch")
    return ref, check_path(path)


def crumbs(path: str) -> list[dict[str, Any]]:
    """Return the folders on the way to a path, with their own paths."""
    parts = [part for part in path.split("/") if part]
    return [{"name": part, "path": "/".join(parts[: n + 1])} for n, part in enumerate(parts)]
