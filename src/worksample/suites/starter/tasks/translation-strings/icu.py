"""ICU MessageFormat: a message as a tree, and what a translation must share with its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

DEPTH = 12
LENGTH = 5_000
CHOICES = ("plural", "select", "selectordinal")
_NAME = re.compile(r"\s*([^\s{},#']+)\s*")
_SELECTOR = re.compile(r"\s*(=\d+|[^\s{},#'=]+)\s*\{")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


class Malformed(ValueError):
    """The message does not parse."""


@dataclass
class Argument:
    name: str
    type: str = ""
    style: str = ""
    branches: dict[str, list[Node]] = field(default_factory=dict)


Node = str | Argument


class _Reader:
    def __init__(self, text: str) -> None:
        if len(text) > LENGTH:
            raise Malformed(f"is longer than {LENGTH} characters")
        self.text, self.at = text, 0

    def message(self, depth: int, hash_counts: bool) -> list[Node]:
        """Up to the closing brace of the branch, or the end."""
        if depth > DEPTH:
            raise Malformed("is nested too deeply")
        nodes: list[Node] = []
        words = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "}":
                break
            if char == "{":
                nodes += [words] if words else []
                words = ""
                nodes.append(self.argument(depth, hash_counts))
            elif char == "#" and hash_counts:
                nodes += [words, "#"] if words else ["#"]
                words = ""
                self.at += 1
            elif char == "'":
                words += self.quoted(hash_counts)
            else:
                words += char
                self.at += 1
        return nodes + ([words] if words else [])

    def quoted(self, hash_counts: bool) -> str:
        """Behind an apostrophe: `''` is one, and before a syntax character it opens a quotation."""
        following = self.text[self.at + 1 : self.at + 2]
        if following == "'":
            self.at += 2
            return "\u2019"
        if following and following in ("{}#|" if hash_counts else "{}|"):
            end = self.text.find("'", self.at + 1)
            end = len(self.text) if end < 0 else end
            found = self.text[self.at + 1 : end]
            self.at = end + 1
            return found
        self.at += 1
        return "\u2019"

    def argument(self, depth: int, hash_counts: bool) -> Argument:
        self.at += 1
        found = Argument(self.word())
        if self.mark() == "}":
            return found
        found.type = self.word()
        if found.type in CHOICES:
            self.expect(",")
            found.branches = self.choices(depth, hash_counts or found.type != "select")
            return found
        if self.mark() == "}":
            return found
        end = self.text.find("}", self.at)
        if end < 0:
            raise Malformed("a brace is not closed")
        found.style = self.text[self.at : end].strip()
        self.at = end + 1
        return found

    def choices(self, depth: int, hash_counts: bool) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        while match := _SELECTOR.match(self.text, self.at):
            self.at = match.end()
            if match[1] in found:
                raise Malformed(f"has {match[1]!r} twice")
            found[match[1]] = self.message(depth + 1, hash_counts)
            self.expect("}")
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        self.expect("}")
        if "other" not in found:
            raise Malformed("has no case 'other'")
        return found

    def word(self) -> str:
        match = _NAME.match(self.text, self.at)
        if not match:
            raise Malformed("an argument has no name or type")
        self.at = match.end()
        return match[1]

    def mark(self) -> str:
        """The comma or closing brace that must follow."""
        char = self.text[self.at : self.at + 1]
        if char not in (",", "}") or not char:
            raise Malformed("a brace is not closed")
        self.at += 1
        return char

    def expect(self, char: str) -> None:
        if self.text[self.at : self.at + 1] != char:
            raise Malformed(f"{char!r} is missing")
        self.at += 1


def parse(text: str) -> list[Node]:
    """The message's parts. Malformed where braces, names or cases are not in order."""
    reader = _Reader(text)
    nodes = reader.message(0, False)
    if reader.at < len(text):
        raise Malformed("a closing brace has no opening one")
    return nodes


def arguments(nodes: list[Node]) -> Iterator[Argument]:
    for node in nodes:
        if isinstance(node, Argument):
            yield node
            for branch in node.branches.values():
                yield from arguments(branch)


def literal(nodes: list[Node]) -> str:
    """The words of all branches, without arguments and tags."""
    parts = []
    for node in nodes:
        if isinstance(node, Argument):
            parts += [literal(branch) for branch in node.branches.values()]
        elif node != "#":
            parts.append(_TAG.sub("", node))
    return " ".join(parts)


def shape(nodes: list[Node]) -> set[tuple[str, ...]]:
    """Arguments with type and format, and the keys of selects."""
    return {(a.name, a.type, a.style, *(sorted(a.branches) if a.type == "select" else ())) for a in arguments(nodes)}


def exact_cases(nodes: list[Node]) -> set[tuple[str, str]]:
    """Cases of plurals for one number, such as `=0`, by argument."""
    return {(a.name, key) for a in arguments(nodes) for key in a.branches if key.startswith("=")}


def tags(text: str) -> Counter[str]:
    return Counter(_TAG.findall(text))


def counts(branch: list[Node]) -> bool:
    """Whether a branch shows its number."""
    return "#" in branch
