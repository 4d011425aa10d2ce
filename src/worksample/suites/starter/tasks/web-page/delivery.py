"""The delivered site beside what it should be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlsplit

from css import Sheet, Styles, parse
from page import Node, Page, read_page, tidy

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Case

PAGE, SHEET = "site/index.html", "site/styles.css"


def plain(text: str) -> str:
    return tidy(text).casefold()


@dataclass
class Site:
    """The delivered site beside what it should be."""

    case: Case

    @cached_property
    def want(self) -> dict[str, Any]:
        want = self.case.ref_json("expected.json")
        if not isinstance(want, dict) or not {"sections", "form", "pictures", "palette", "facts"} <= want.keys():
            raise ReferenceUnreadable("lacks some of sections, form, pictures, palette, facts", where="expected.json")
        return want

    @cached_property
    def page(self) -> Page:
        page = read_page(self.case.text(PAGE), PAGE)
        try:
            styles = Styles(parse(self.case.text(SHEET)))
        except (DeliverableError, ValueError):
            return page
        for node in page.root.below():
            node.veiled = styles.unseen(node)
        return page

    @cached_property
    def sheet(self) -> Sheet:
        try:
            return parse(self.case.text(SHEET))
        except ValueError as error:
            raise DeliverableError(str(error), where=SHEET) from error

    def file(self, address: str) -> str | None:
        """The delivered name that an address inside the site leads to, or None where it leads elsewhere."""
        try:
            parts = urlsplit(address.strip())
        except ValueError:  # such as a bracket that is never closed
            return None
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            return None
        steps: list[str] = []
        for step in unquote(parts.path).split("/"):
            if step == ".." and not steps:
                return None
            if step == "..":
                steps.pop()
            elif step not in ("", "."):
                steps.append(step)
        return "site/" + "/".join(steps or ["index.html"])

    def exists(self, name: str) -> bool:
        try:
            return self.case.output(name).stat().st_size > 0
        except DeliverableError:
            return False


def section(site: Site, name: str) -> Node:
    found = site.page.by_id(name)
    if found is None or found.tag != "section":
        raise DeliverableError(f"has no section with the id {name!r}", where=PAGE)
    return found
