"""The site of the repositories: signing in, addresses, forms and errors. Pages are in `code_pages` and
`merge_request_pages`.
"""

from __future__ import annotations

import hmac
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..dialects.accounts import DialectAccounts, challenge
from ..dialects.gitlab.view import NAMESPACE, GitLabProject, GitLabView
from ..dialects.http_messages import DialectRefused, DialectRequest, DialectResponse
from ..dialects.json_tables import JsonTables
from .people import CompanyPeople, read_people
from .rendering import page_response, static_response
from .sessions import PageSession, PageSessions, session_cookie

SIGN_IN = "/users/sign_in"
Form = Mapping[str, str]


@dataclass(frozen=True)
class PageRequest:
    """A request of a person who is signed in. `form` has the fields of a sent form, or the query of an address."""

    view: GitLabView
    session: PageSession
    project: GitLabProject | None
    words: tuple[str, ...]
    form: Form
    people: list[dict[str, Any]]

    @property
    def here(self) -> GitLabProject:
        """The project that the address names."""
        assert self.project is not None, "the address of this page names a project"
        return self.project

    @property
    def named(self) -> dict[str, str]:
        """The project, as the functions of GitLab's API expect it."""
        return {"id": self.here.path}

    def address(self, *words: str) -> str:
        """Return the address of a page of the project."""
        rest = "/".join(urllib.parse.quote(word, safe="/") for word in words)
        return f"/{self.here.path}" + (f"/-/{rest}" if rest else "")

    def page(self, template: str, title: str, **values: Any) -> DialectResponse:
        """Return a page of this site."""
        given: dict[str, Any] = {
            "project": self.project, "me": self.view.me, "session": self.session, "address": self.address,
            "origin": self.view.origin,
        }  # fmt: skip
        return page_response(template, title, self.session.who.name, **given, **values)


Page = Callable[[PageRequest], DialectResponse]
_PAGES: list[tuple[str, re.Pattern[str], Page]] = []


def page(method: str, pattern: str) -> Callable[[Page], Page]:
    """Register a page for a method and a pattern of the address below `/root/NAME`, or of the whole address if the
    pattern begins with `^`.
    """

    def mark(work: Page) -> Page:
        beginning = "" if pattern.startswith("^") else rf"/{NAMESPACE}/(?P<name>[a-z][a-z0-9_-]*)"
        _PAGES.append((method, re.compile(beginning + pattern.removeprefix("^")), work))
        return work

    return mark


class GitPages:
    """The pages of all repositories of a workplace. `state` is the folder of the workplace's state."""

    def __init__(self, accounts: DialectAccounts, state: Path) -> None:
        from . import code_pages, merge_request_pages  # their import registers their pages

        assert code_pages, merge_request_pages
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
        for method, pattern, work in _PAGES:
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


def redirect(to: str, by: str, headers: Mapping[str, str] | None = None) -> DialectResponse:
    """Return the response that leads a browser to another page."""
    place = to.encode("ascii", "ignore").decode().replace("\r", "").replace("\n", "")
    return DialectResponse(303, b"", {"Location": place, "Cache-Control": "no-store", **(headers or {})}, by)
