"""GitLab's API functions for the files and trees of a repository, and for commits that change files."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from ..bare_repository import BareRepository, FileChange, NotFound, check_path
from ..http_messages import DialectRefused, DialectResponse
from .commits import requested_ref, with_stats
from .routing import Given, ListResponse, is_true, refuse_values, require_values, route
from .view import GitLabProject, GitLabView

Named = Mapping[str, str]


@route("GET", "projects/:id/repository/files/:path")
@route("HEAD", "projects/:id/repository/files/:path")
def file(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    code = asker.project(named["id"]).code
    commit, digest, data = code.file(requested_ref(code, given), named["path"])
    path = check_path(named["path"])
    return {
        "file_name": path.rpartition("/")[2], "file_path": path, "size": len(data), "encoding": "base64",
        "content": base64.b64encode(data).decode(), "content_sha256": hashlib.sha256(data).hexdigest(),
        "ref": requested_ref(code, given), "blob_id": digest, "commit_id": commit,
        "last_commit_id": code.last_change(commit, path),
    }  # fmt: skip


@route("GET", "projects/:id/repository/files/:path/raw")
def raw_file(asker: GitLabView, named: Named, given: Given) -> DialectResponse:
    code = asker.project(named["id"]).code
    return _raw(asker, code.file(requested_ref(code, given), named["path"])[2])


@route("GET", "projects/:id/repository/blobs/:sha/raw")
def raw_blob(asker: GitLabView, named: Named, given: Given) -> DialectResponse:
    code = asker.project(named["id"]).code
    if not all(c in "0123456789abcdef" for c in named["sha"]) or len(named["sha"]) != 40:
        raise NotFound("Blob")
    done = code.run("cat-file", "blob", named["sha"], fine=(0, 128))
    if done.returncode:
        raise NotFound("Blob")
    return _raw(asker, done.stdout)


def _raw(asker: GitLabView, data: bytes) -> DialectResponse:
    heads = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return DialectResponse(200, data, heads, asker.who.name)


@route("POST", "projects/:id/repository/files/:path")
def add_file(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    return _change_file(asker, named, given, "create")


@route("PUT", "projects/:id/repository/files/:path")
def change_file(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    return _change_file(asker, named, given, "update")


@route("DELETE", "projects/:id/repository/files/:path")
def remove_file(asker: GitLabView, named: Named, given: Given) -> None:
    _change_file(asker, named, given, "delete")


def _change_file(asker: GitLabView, named: Named, given: Given, action: str) -> dict[str, Any]:
    require_values(given, "branch", "commit_message", *(("content",) if action == "update" else ()))
    one = {**given, "action": action, "file_path": named["path"]}
    _commit(asker, asker.project(named["id"]), given, [one])
    return {"file_path": check_path(named["path"]), "branch": str(given["branch"])}


@route("GET", "projects/:id/repository/tree")
def tree(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    code = asker.project(named["id"]).code
    if code.default_branch() is None and not given.get("ref"):
        raise NotFound("Tree")
    return ListResponse(
        code.tree(requested_ref(code, given), str(given.get("path", "")), is_true(given.get("recursive")))
    )


@route("POST", "projects/:id/repository/commits")
def add_commit(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "branch", "commit_message", "actions")
    project = asker.project(named["id"])
    actions = given["actions"]
    if not isinstance(actions, list) or not all(isinstance(one, dict) for one in actions):
        raise DialectRefused(400, "actions must be a list of objects")
    made = _commit(asker, project, given, actions)
    return with_stats(asker, project, project.code.commit(made), True)


def _commit(asker: GitLabView, project: GitLabProject, given: Given, actions: list[Mapping[str, Any]]) -> str:
    refuse_values(given, "start_project", "start_sha", "force")
    code, branch = project.code, str(given["branch"])
    start = "" if branch in code.branches() else str(given.get("start_branch") or "")
    if branch not in code.branches() and not start and code.branches():
        raise DialectRefused(400, "You can only create or edit files when you are on a branch")
    before = code.resolve(start or branch) if code.branches() else ""
    changes = [change for one in actions for change in _changes(code, before, one)]
    name, mail = asker.author
    by = str(given.get("author_name") or name), str(given.get("author_email") or mail)
    return code.commit_changes(branch, start, changes, str(given["commit_message"]), by)


def _changes(code: BareRepository, before: str, one: Mapping[str, Any]) -> list[FileChange]:
    """Return the file changes that one action of a commit makes to the files of the commit `before`."""
    action, path = str(one.get("action", "")), check_path(str(one.get("file_path", "")))
    there = bool(before) and bool(code.run("ls-tree", before, "--", path).stdout) if path else False
    if action == "create" and there:
        raise DialectRefused(400, "A file with this name already exists")
    if action in ("update", "delete", "chmod") and not there:
        raise DialectRefused(400, "A file with this name doesn't exist")
    if action == "delete":
        return [FileChange(path, None)]
    if action in ("create", "update"):
        return [FileChange(path, _content(one), "100755" if is_true(one.get("execute_filemode")) else "100644")]
    if action == "chmod":
        mode = "100755" if is_true(one.get("execute_filemode")) else "100644"
        return [FileChange(path, code.file(before, path)[2], mode)]
    if action == "move":
        old = check_path(str(one.get("previous_path", "")))
        data = _content(one) if one.get("content") is not None else code.file(before, old)[2]
        return [FileChange(old, None), FileChange(path, data)]
    raise DialectRefused(400, f"there is no action {action!r}")


def _content(one: Mapping[str, Any]) -> bytes:
    text = str(one.get("content") or "")
    if one.get("encoding", "text") != "base64":
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise DialectRefused(400, "content is not Base64") from error
