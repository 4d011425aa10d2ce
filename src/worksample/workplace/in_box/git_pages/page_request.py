"""Requests of pages, and the registry of the functions that answer them."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..dialects.gitlab.view import NAMESPACE, GitLabProject, GitLabView
from ..dialects.http_messages import DialectResponse
from .rendering import page_response
from .sessions import PageSession

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
PAGES: list[tuple[str, re.Pattern[str], Page]] = []
"""Method, pattern of the address, and function of each page; importing a module of pages fills it."""


def page(method: str, pattern: str) -> Callable[[Page], Page]:
    """Register a page for a method and a pattern of the address below `/root/NAME`, or of the whole address if the
    pattern begins with `^`.
    """

    def mark(work: Page) -> Page:
        beginning = "" if pattern.startswith("^") else rf"/{NAMESPACE}/(?P<name>[a-z][a-z0-9_-]*)"
        PAGES.append((method, re.compile(beginning + pattern.removeprefix("^")), work))
        return work

    return mark


def redirect(to: str, by: str, headers: Mapping[str, str] | None = None) -> DialectResponse:
    """Return the response that leads a browser to another page."""
    place = to.encode("ascii", "ignore").decode().replace("\r", "").replace("\n", "")
    return DialectResponse(303, b"", {"Location": place, "Cache-Control": "no-store", **(headers or {})}, by)
