"""The site of the repositories: signing in, addresses, forms and errors. Pages are in `code_pages` and
`merge_request_pages`.
"""

from __future__ import annotations

import hmac
import json
import re
import urllib.parse
from pathlib import Path

from ..dialects.accounts import DialectAccount, DialectAccounts, challenge
from ..dialects.gitlab.view import NAMESPACE, GitLabView
from ..dialects.http_messages import DialectRefused, DialectRequest, DialectResponse
from ..dialects.json_tables import JsonTables
from ..dialects.tracker import Row, Tracker
from . import code_pages, merge_request_pages
from .page_request import PAGES, Form, PageRequest, redirect
from .rendering import page_response, static_response
from .sessions import PageSession, PageSessions, session_cookie

SIGN_IN = "/users/sign_in"
PAGE_MODULES = (code_pages, merge_request_pages)
"""Modules whose import registers their pages."""


class GitPages:
    """The pages of all repositories of a workplace. `state` is the folder of the workplace's state."""

    def __init__(self, accounts: DialectAccounts, state: Path) -> None:
        self._sessions = PageSessions(accounts)
        self._folder, self._kept = state / "git", JsonTables(state / "dialects" / "projects")
        self._people = read_people(state)

    def answer(self, request: DialectRequest) -> DialectResponse:
        """Return the response to a request."""
        if request.path.startswith("/-/static/"):
            return static_response(request.path.removeprefix("/-/static/"))
        if request.path == SIGN_IN:
            return self._sign_in(request)
        session = self._sessions.find(request)
        if session is None:
            return self._ask_to_sign_in(request)
        if request.path == "/users/sign_out" and request.method == "POST":
            self._form(request, session)
            self._sessions.end(session)
            return redirect(SIGN_IN, session.who.name, {"Set-Cookie": session_cookie("")})
        if request.path == "/" and not accepts_pages(request):
            return self._plain_list(request, session)
        try:
            return self._page(request, session)
        except DialectRefused as error:
            return page_response(
                "error.html", "Not done", session.who.name, error.status, why=error.why, session=session
            )

    def _page(self, request: DialectRequest, session: PageSession) -> DialectResponse:
        view = GitLabView(
            session.who, CompanyPeople(session.who, self._people), self._kept, self._folder, request.origin
        )
        path = urllib.parse.unquote(request.path)
        path = path.rstrip("/") or "/"
        for method, pattern, work in PAGES:
            match = pattern.fullmatch(path)
            if match is None or method != request.method.replace("HEAD", "GET"):
                continue
            words = match.groupdict()
            name = words.pop("name", None)
            project = view.project(f"{NAMESPACE}/{name}") if name is not None else None
            form = self._form(request, session) if method == "POST" else dict(request.query)
            return work(PageRequest(view, session, project, tuple(words.values()), form, self._people))
        raise DialectRefused(404, "There is no such page.")

    def _form(self, request: DialectRequest, session: PageSession) -> Form:
        form = {str(key): str(value) for key, value in request.values().items()}
        if not hmac.compare_digest(form.pop("proof", "").encode(), session.proof.encode()):
            raise DialectRefused(
                403, "The form is not from a page of yours, or you have signed in again since. Reload it."
            )
        return form

    def _sign_in(self, request: DialectRequest) -> DialectResponse:
        if request.method != "POST":
            return page_response("sign_in.html", "Sign in", "", next=request.query.get("next", ""))
        given = request.values()
        session = self._sessions.begin(str(given.get("username", "")), str(given.get("password", "")))
        after = str(given.get("next", ""))
        if session is None:
            return page_response("sign_in.html", "Sign in", "", 401, next=after, wrong=True)
        to = after if re.match(r"/(?![/\\])", after) else "/"
        return redirect(to, session.who.name, {"Set-Cookie": session_cookie(session.token)})

    def _ask_to_sign_in(self, request: DialectRequest) -> DialectResponse:
        if not accepts_pages(request):
            raise challenge("git")
        query = urllib.parse.urlencode({"next": request.path} if request.method == "GET" else {})
        return redirect(f"{SIGN_IN}?{query}" if query else SIGN_IN, "")

    def _plain_list(self, request: DialectRequest, session: PageSession) -> DialectResponse:
        """Return the addresses of the repositories as text, for programs."""
        names = sorted(path.name for path in self._folder.glob("*.git"))
        text = "".join(f"{request.origin}/{name}\n" for name in names)
        return DialectResponse(200, text.encode(), {"Content-Type": "text/plain; charset=utf-8"}, session.who.name)


def accepts_pages(request: DialectRequest) -> bool:
    """Return whether a request is a browser's."""
    return "text/html" in request.headers.get("accept", "")


class CompanyPeople(Tracker):
    """The tracker's interface with people and without projects. A workplace without a tracker has no more, and a page
    that shows names needs no more.
    """

    def __init__(self, who: DialectAccount, people: list[Row]) -> None:
        super().__init__(who, who)
        self._rows = people

    def projects(self) -> list[Row]:
        """Return no projects: only repositories have pages."""
        return []

    def people(self) -> list[Row]:
        """Return the people of the company."""
        return self._rows

    def person(self, ref: object) -> Row:
        """Return a person by account. An account that is newer than the company is shown by its account name."""
        for one in self._rows:
            if ref == one["login"]:
                return one
        return {"id": 0, "login": str(ref), "name": str(ref), "mail": f"{ref}@workplace.invalid", "since": ""}


def read_people(state: Path) -> list[Row]:
    """Return the people of the company, sorted by name. Return an empty list for a state of an older version."""
    try:
        found = json.loads((state / "dialects" / "people.json").read_bytes())
    except FileNotFoundError:
        return []
    return sorted(({"since": "", **one} for one in found), key=lambda one: str(one["name"]))
