"""A page as a tree, read with the standard library's tolerant parser and within limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from worksample.errors import DeliverableError

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
BLOCKS = """
p div ul ol dl section article main header footer nav form table aside figure h1 h2 h3 h4 h5 h6
"""
CLOSED_BY = {
    "p": frozenset(BLOCKS.split()),
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "option": frozenset({"option"}),
}
UNSEEN = frozenset({"head", "script", "style", "template", "title", "noscript"})
TYPOGRAPHIC = {
    "'": "\u2018\u2019\u02bc",
    '"': "\u201c\u201d\u201e",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2212",
    " ": "\u00a0\u202f",
}
SIZE = 64 << 10
"""Characters: the parser takes time by their square where mark-up is never closed."""
NODES = 3_000
DEPTH = 100


@dataclass(eq=False)
class Node:
    """An element: its tag, attributes (the first of each name counts) and children, which are elements or text."""

    tag: str
    attrs: dict[str, str]
    parent: Node | None
    children: list[Node | str] = field(default_factory=list)
    veiled: bool = False
    """Hidden by the style sheet."""

    def below(self) -> Iterator[Node]:
        """Every element below this one, in the order of the page."""
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.below()

    def all(self, *tags: str) -> list[Node]:
        return [n for n in self.below() if n.tag in tags]

    def above(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def seen(self) -> bool:
        """Whether the element is meant to be shown, as far as the mark-up says."""
        line = [self, *self.above()]
        return not any(n.tag in UNSEEN or "hidden" in n.attrs or n.attrs.get("type") == "hidden" for n in line)

    @property
    def text(self) -> str:
        """The shown text below, spaces collapsed."""
        return tidy("".join(self._pieces()))

    def _pieces(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag not in UNSEEN and "hidden" not in child.attrs and not child.veiled:
                inline = child.tag in {
                    "a",
                    "abbr",
                    "b",
                    "code",
                    "em",
                    "i",
                    "span",
                    "strong",
                    "small",
                    "time",
                    "address",
                }
                yield "" if inline else "\n"
                yield from child._pieces()
                yield "" if inline else "\n"

    @property
    def own_text(self) -> str:
        return tidy("".join(c for c in self.children if isinstance(c, str)))


def tidy(text: str) -> str:
    """Text as it is compared: spaces collapsed, typographic marks as plain ones."""
    for plain, marks in TYPOGRAPHIC.items():
        for mark in marks:
            text = text.replace(mark, plain)
    return re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("#page", {}, None)
        self.open = [self.root]
        self.count = 0
        self.doctype = ""

    def handle_decl(self, decl: str) -> None:
        self.doctype = self.doctype or decl.strip().casefold()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += 1
        if self.count > NODES or len(self.open) > DEPTH:
            raise DeliverableError(f"has more than {NODES} elements or is nested deeper than {DEPTH}")
        while len(self.open) > 1 and tag in CLOSED_BY.get(self.open[-1].tag, ()):
            self.open.pop()
        found: dict[str, str] = {}
        for name, value in attrs:
            found.setdefault(name, value or "")
        node = Node(tag, found, self.open[-1])
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self.open) - 1, 0, -1):
            if self.open[place].tag == tag:
                del self.open[place:]
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


@dataclass(frozen=True)
class Page:
    root: Node
    doctype: str

    def all(self, *tags: str) -> list[Node]:
        return self.root.all(*tags)

    def by_id(self, name: str) -> Node | None:
        return next((n for n in self.root.below() if n.attrs.get("id") == name), None)

    @property
    def text(self) -> str:
        return self.root.text


def read_page(source: str, name: str) -> Page:
    """The page in `source`. DeliverableError over a limit, or where nothing in it is an element."""
    if len(source) > SIZE:
        raise DeliverableError(f"is larger than {SIZE} characters", where=name)
    reader = _Reader()
    try:
        reader.feed(source)
        reader.close()
    except AssertionError as error:  # so the parser says of declarations that it does not know
        raise DeliverableError(f"holds mark-up that cannot be read: {error}", where=name) from error
    if reader.count == 0:
        raise DeliverableError("holds no HTML", where=name)
    return Page(reader.root, reader.doctype)
