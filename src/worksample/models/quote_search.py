"""Search of a judge's quotes in the exhibits. A quote is evidence if it occurs in an exhibit and is long enough not to
occur by chance.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from functools import cached_property

from .exhibit_delimiters import MARK, make_visible
from .invisible_characters import remove_invisible

LEAST = 4
"""Minimum number of letters and digits in a quote. A Chinese, Japanese or Korean character counts as two."""
AMPLE = 30
"""Number of letters and digits from which a quote counts as evidence even if it occurs several times in an exhibit."""
_WRITTEN_OUT = re.compile(r"\[U\+[0-9A-F]{4,6}\]")
_ELLIPSIS = re.compile(r"\[\s*\.\.\.\s*\]|\(\s*\.\.\.\s*\)|\.{3,}")
_SINGLE = dict.fromkeys(map(ord, "‘’‚‛′ʼ`´＇ʹ"), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_DROPPED = dict.fromkeys(map(ord, '"“”„‟«»‹›″＂*_'), "")
"""Characters that are removed before the search: quotation marks, which CSV doubles and JSON escapes, and the emphasis
marks of Markdown.
"""
_LOOKS = _SINGLE | _DASHES | _DROPPED
_NO_APOSTROPHE = re.compile(r"(?<!\w)'|'(?!\w)")
"""Pattern of a single quotation mark that is not an apostrophe within a word."""
_HYPHENATED = re.compile(r"(?<=\w)-\s*\n\s*(?=\w)")


class QuoteWorth(Enum):
    """Worth of a quote as evidence."""

    EVIDENCE = "evidence"
    NOWHERE = "nowhere"
    SHORT = "short"
    """The quote has so few letters and digits that it could occur by chance."""
    OFTEN = "often"
    """The quote is short and occurs in several places of the exhibit."""


def fold(text: str) -> str:
    """Return text in a form for comparison: without quotation and emphasis marks, differences of typography and case,
    and invisible characters. White space becomes a single space.
    """
    text = "\n".join(line.removeprefix(MARK) for line in make_visible(text).split("\n"))
    text = remove_invisible(_WRITTEN_OUT.sub("", text)).translate(_LOOKS)
    text = _NO_APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).translate(_LOOKS))
    return " ".join(text.casefold().split())


def weight(text: str) -> int:
    """Return the number of letters and digits in a text. A Chinese, Japanese or Korean character counts as two."""
    return sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in text if c.isalnum())


class Searchable:
    """The text of an exhibit, prepared once for all quotes that are searched in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The prepared text, and the same text with the words joined that were split at the end of a line."""
        return tuple({fold(self.text): 0, fold(_HYPHENATED.sub("", self.text)): 0})

    @cached_property
    def lines(self) -> frozenset[str]:
        return frozenset(fold(line) for line in self.text.splitlines())

    def find(self, quote: str) -> QuoteWorth:
        """Return the worth of a quote as evidence in this exhibit. In the quote, `...` stands for omitted words."""
        if not weight(fold(quote)):
            return QuoteWorth.SHORT
        worth = [self._worth(quote, text) for text in self.texts]
        return next(
            (best for best in (QuoteWorth.EVIDENCE, QuoteWorth.OFTEN, QuoteWorth.SHORT) if best in worth),
            QuoteWorth.NOWHERE,
        )

    def _worth(self, quote: str, text: str) -> QuoteWorth:
        whole = fold(quote)
        if whole in text:
            return self._of_passage(whole, text)
        passages = [p for p in map(fold, _ELLIPSIS.split(unicodedata.normalize("NFKC", quote))) if p]
        place = 0
        for passage in passages:
            place = text.find(passage, place)
            if place < 0:
                return QuoteWorth.NOWHERE
            place += len(passage)
        worth = [self._of_passage(passage, text) for passage in passages]
        return next((best for best in (QuoteWorth.EVIDENCE, QuoteWorth.OFTEN) if best in worth), QuoteWorth.SHORT)

    def _of_passage(self, passage: str, text: str) -> QuoteWorth:
        """Return the worth of one passage of a quote in `text`. A passage that is a whole line may be short if the line
        occurs only once.
        """
        if weight(passage) < LEAST and passage != text and passage not in self.lines:
            return QuoteWorth.SHORT
        often = text.find(passage, text.find(passage) + 1) >= 0
        return QuoteWorth.OFTEN if often and weight(passage) < AMPLE else QuoteWorth.EVIDENCE
