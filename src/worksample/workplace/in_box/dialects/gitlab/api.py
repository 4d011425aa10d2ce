"""GitLab's addresses: the API, tokens, git over HTTP, and web pages. Pages of issues, milestones and wikis redirect to
the corresponding pages of the tracker.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import IO

from ...company_time import company_now
from ...git_pages.site import GitPages, accepts_pages
from ..accounts import DialectAccount, DialectAccounts, challenge
from ..backend import TRACKER, Backend
from ..http_messages import (
    PAGES,
    DialectRefused,
    DialectRequest,
    DialectResponse,
    json_response,
    not_served,
    redirect_page,
)
from ..json_tables import JsonTables, issue_with_number
from ..tracker import Tracker
from . import (
    approvals,
    branches,
    commits,
    files,
    issues,
    labels,
    merge_requests,
    milestones,
    pipelines,
    projects,
    statuses,
)
from .routing import find_route, to_response
from .view import NAMESPACE, GitLabView

API = "/api/v4/"
PIECE = 1 << 16
_GIT = re.compile(r"/([^/]+)/([^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)")
_PAGE = re.compile(r"/([^/]+)/([a-z][a-z0-9_-]*)(?:/-/([a-z_]+)(?:/(.*))?)?/?")
_PAGES = {
    "issues": ("/projects/{name}/issues", "/issues/{rest}"),
    "milestones": ("/projects/{name}/roadmap", "/versions/{rest}"),
    "wikis": ("/projects/{name}/wiki", "/projects/{name}/wiki/{rest}"),
    "project_members": ("/projects/{name}", "/projects/{name}"),
}
"""GitLab's pages that the tracker's pages replace. Pages of code and merge requests are in `git_pages`."""
_OWN = ("tree", "blob", "raw", "commits", "commit", "branches", "tags", "merge_requests", "edit", "new")
_READ = (approvals, branches, files, commits, issues, labels, merge_requests, milestones, pipelines, projects, statuses)
"""Modules with the functions that answer requests. Importing them registers the functions' routes."""


class GitLab:
    """The dialect of GitLab. `state` is the folder of the workplace's state; `home` is the address of the tracker's web
    pages.
    """

    def __init__(
        self, accounts: DialectAccounts, state: Path, site: GitPages | None = None, *,
        home: str = "http://tracker:8091", tracker: Backend = TRACKER,
    ) -> None:  # fmt: skip
        self._site = site or GitPages(accounts, state)
        self._accounts, self._folder, self._home, self._tracker = accounts, state / "git", home, tracker
        self._kept = JsonTables(state / "dialects" / "projects")

    def answer(self, request: DialectRequest) -> DialectResponse:
        """Return the response to a request."""
        if request.path == "/oauth/token":
            return self._oauth(request)
        if (git := _GIT.fullmatch(request.path)) is not None:
            return self._git(request, *git.groups())
        if not request.path.startswith(API):
            return self._page(request)
        try:
            return self._api(request)
        except DialectRefused as error:
            return json_response({"message": error.why}, error.status, error.headers)

    def _api(self, request: DialectRequest) -> DialectResponse:
        who = self._accounts.find_account(request)
        if who is None:
            raise DialectRefused(401, "401 Unauthorized")
        if request.headers.get("sudo") or request.query.get("sudo"):
            raise not_served("asking as somebody else (sudo)")
        path = request.path.removeprefix(API)
        if path.strip("/") in ("user/personal_access_tokens", "personal_access_tokens/self"):
            return self._token(request, who)
        if request.headers.get("content-type", "").startswith("multipart/"):
            raise not_served("uploads")
        asker = GitLabView(
            who, Tracker(who, self._accounts.operator(), self._tracker), self._kept, self._folder, request.origin
        )
        verb, named = find_route(request.method, path)
        return to_response(request, verb(asker, named, request.values()), who.name)

    def _token(self, request: DialectRequest, who: DialectAccount) -> DialectResponse:
        ends = (company_now() + timedelta(days=365)).date().isoformat()
        about = {"id": 1, "name": who.name, "scopes": ["api"], "active": True, "revoked": False, "expires_at": ends}
        if request.method == "POST":
            return json_response({**about, "token": self._accounts.token_for(who, "glpat-")}, 201, by=who.name)
        if request.method == "DELETE":
            self._accounts.forget(request.headers.get("private-token", ""))
            return DialectResponse(204, by=who.name)
        return json_response(about, by=who.name)

    def _oauth(self, request: DialectRequest) -> DialectResponse:
        given = request.values()
        if given.get("grant_type") != "password":
            raise not_served("OAuth other than by account and password")
        who = self._accounts.by_password(str(given.get("username", "")), str(given.get("password", "")))
        if who is None:
            return json_response({"error": "invalid_grant", "error_description": "no such account"}, 400)
        told = {
            "token_type": "Bearer",
            "scope": "api",
            "created_at": int(company_now().timestamp()),
            "expires_in": 7200,
        }
        return json_response({**told, "access_token": self._accounts.token_for(who, "")}, by=who.name)

    def _git(self, request: DialectRequest, space: str, name: str, rest: str) -> DialectResponse:
        """Answer a request of git over HTTP with git's own CGI program, which the repositories' service uses, too."""
        who = self._accounts.find_account(request)
        if who is None:
            raise challenge("GitLab")
        name = name.lower()
        if space.lower() != NAMESPACE or not (self._folder / f"{name}.git").is_dir():
            raise DialectRefused(404, "The project you were looking for could not be found")
        env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nonexistent", "REMOTE_USER": who.name,
            "GIT_PROJECT_ROOT": str(self._folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": f"/{name}.git/{rest}",
            "REQUEST_METHOD": request.method, "QUERY_STRING": urllib.parse.urlencode(request.query),
            "CONTENT_TYPE": request.headers.get("content-type", ""), "CONTENT_LENGTH": str(len(request.body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""), "REMOTE_ADDR": "127.0.0.1",
        }  # fmt: skip
        # A file instead of a pipe: git may answer before it has read everything, which could deadlock a pipe.
        with tempfile.TemporaryFile() as body:
            body.write(request.body)
            body.seek(0)
            running = subprocess.Popen(["git", "http-backend"], env=env, stdin=body, stdout=subprocess.PIPE)
        assert running.stdout is not None
        status, heads = 200, {}
        while line := running.stdout.readline().decode("latin-1").strip():
            key, _, value = line.partition(":")
            if key.lower() == "status":
                status = int(value.split()[0])
            else:
                heads[key] = value.strip()
        return DialectResponse(status, _pieces(running.stdout, running), heads, who.name)

    def _page(self, request: DialectRequest) -> DialectResponse:
        """Return a page of the repositories, or redirect to the page of the tracker that replaces a page of GitLab."""
        page = _PAGE.fullmatch(request.path.lower() if "/-/" not in request.path else request.path)
        if page is not None and page[1] == NAMESPACE and page[3] in _PAGES:
            form, rest = _PAGES[page[3]][1 if page[4] else 0], (page[4] or "").rstrip("/")
            if page[3] == "issues":
                rest = issue_with_number(self._kept.read(page[2]), rest)
            return redirect_page(self._home + form.format(name=page[2], rest=rest))
        whole = re.fullmatch(r"/|/users/sign_(in|out)|/dashboard/projects|/explore|/-/static/.*", request.path)
        own = page is not None and page[1] == NAMESPACE and (not page[3] or page[3] in _OWN)
        if not (own or whole or request.path == f"/{NAMESPACE}"):
            raise not_served(f"GitLab's page {request.path}")
        found = self._site.answer(request)
        # A program that reads the text of a page expects GitLab's own page.
        return found if accepts_pages(request) else replace(found, lacks=PAGES)


def _pieces(source: IO[bytes], running: subprocess.Popen[bytes]) -> Iterator[bytes]:
    try:
        while piece := source.read(PIECE):
            yield piece
    finally:
        source.close()
        running.wait()
