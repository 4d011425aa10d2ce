"""Statements in chat and comments: who said what about a matter, in whatever words, and what holds in the end.

    at = find_statement(office.direct("jules", "maren"), "jules", lambda text: "tern" in text)

A statement is judged by its content: numbers, names and the decision. Whoever states everything has stated nothing: a
text that enumerates does not count, nor does a matter of which somebody has said many different things.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol

from .check_score import Check
from .free_text import flat, numbers_in
from .workplace import Workplace

CHANGES = 4
"""Maximum number of different things that somebody may say of one matter. People correct themselves; a row of guesses
is no answer.
"""
FIGURES, LENGTH = 40, 6_000
"""Maximum number of figures, and of characters, of a text that still states something."""
DONE = ("Resolved", "Closed")
_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_COUNT = re.compile(rf"(?<![\w-])({'|'.join(_COUNTS)})(?![\w-])")


class Said(Protocol):
    """A message or a comment."""

    @property
    def at(self) -> datetime: ...
    @property
    def by(self) -> str: ...
    @property
    def text(self) -> str: ...


Test = Callable[[str], object]


def plain(text: str) -> str:
    """Return a text in a form for comparison: case folded, without marks of emphasis and tables, with plain quotes and
    dashes and single spaces.
    """
    return flat(re.sub(r"[*`|]+|(?<!\w)_+|_+(?!\w)", " ", unicodedata.normalize("NFKC", text)))


def without_questions(text: str) -> str:
    """Return the plain text without its questions. To ask whether something is true is not to state that it is true."""
    pieces = re.split(r"(?<=[.!?])(?=\s)|(?<=\n)", text)
    return plain(" ".join(piece for piece in pieces if not piece.rstrip().endswith("?")))


def figures(text: str) -> list[float]:
    """Return all numbers of a text, and the numbers from zero to twelve that are written as words."""
    words = [float(_COUNTS.index(found)) for found in _COUNT.findall(plain(text))]
    return [*numbers_in(plain(text)), *words]


def enumerates(text: str) -> bool:
    """Return whether a text has more figures or is longer than a statement."""
    return len(text) > LENGTH or len(figures(text)) > FIGURES


def find_statement(
    said: Iterable[Said], by: str, right: Test, *, about: Test = figures, changes: int = CHANGES
) -> datetime | None:
    """Return when `by` stated something rightly, or None.

    right: a function that returns whether a text, in plain form and without its questions, states it. about: a
    function that returns whether a text speaks of the matter at all, by default whether it has a figure. The last text
    of the matter decides. Nothing is stated if a person has said more than `changes` different things of it.
    """
    matter = [(one.at, text) for one in said if one.by == by and about(text := without_questions(one.text))]
    if not matter or len({text for _, text in matter}) > changes:
        return None
    at, last = matter[-1]
    return at if not enumerates(last) and right(last) else None


def check_closing(
    office: Workplace, project: str, begins: str, by: str, right: Test, *, about: Test = figures, lacks: str
) -> Check:
    """Check that an issue is Resolved or Closed and that a comment of `by` states what it should.

    The comment is found by `find_statement`. begins: the beginning of the issue's subject. lacks: the reason if
    no comment does, such as `no comment says how many`.
    """
    one = next((issue for issue in office.issues(project) if issue.subject.startswith(begins)), None)
    if one is None or one.status not in DONE:
        return Check(0.0, f"the issue {begins!r} is gone" if one is None else "the issue is not Resolved")
    at = find_statement(one.notes, by, right, about=about)
    return Check.of(at is not None, lacks, at=at)
