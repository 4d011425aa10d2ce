"""Check evidence: does a judge's quote occur in an exhibit, and is it long enough to be found there only once?"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from functools import cached_property

from .exhibit_delimiters import MARK, make_visible
from .invisible_characters import remove_invisible

LEAST = 4
"""Minimum number of letters and digits of a quote; a Chinese, Japanese or Korean character counts as two."""
AMPLE = 30
"""Number of letters and digits from which a passage counts as evidence even if it occurs more than once in an exhibit.
"""
_WRITTEN_OUT = re.compile(r"\[U\+[0-9A-F]{4,6}\]")
_ELLIPSIS = re.compile(r"\[\s*\.\.\.\s*\]|\(\s*\.\.\.\s*\)|\.{3,}")
_SINGLE = dict.fromkeys(map(ord, "‘’‚‛′ʼ`´＇ʹ"), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_DROPPED = dict.fromkeys(map(ord, '"“”„‟«»‹›″＂*_'), "")
"""Quotation marks, which CSV doubles and JSON escapes, and Markdown's emphasis marks; removed before the search."""
_LOOKS = _SINGLE | _DASHES | _DROPPED
_NO_APOSTROPHE = re.compile(r"(?<!\w)'|'(?!\w)")
"""A single quotation mark that is not the apostrophe of a word."""
_HYPHENATED = re.compile(r"(?<=\w)-\s*\n\s*(?=\w)")


class QuoteWorth(Enum):
    """The worth of a quote as evidence."""

    EVIDENCE = "evidence"
    NOWHERE = "nowhere"
    SHORT = "short"
    """The quote has too few letters and digits: it could occur by chance."""
    OFTEN = "often"
    """The quote is short and occurs in several places."""


def fold(text: str) -> str:
    """Normalise text for comparison: without marks, typography, case and invisible characters; white space becomes one
    space.
    """
    text = "\n".join(line.removeprefix(MARK) for line in make_visible(text).split("\n"))
    text = remove_invisible(_WRITTEN_OUT.sub("", text)).translate(_LOOKS)
    text = _NO_APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).translate(_LOOKS))
    return " ".join(text.casefold().split())


def weight(text: str) -> int:
    """Return the number of letters and digits in a text."""
    return sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in text if c.isalnum())


class Searchable:
    """An exhibit's text, normalised once for all quotes that are searched in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Return the text as it is, and the text with words rejoined that a line break split."""
        return tuple({fold(self.text): 0, fold(_HYPHENATED.sub("", self.text)): 0})

    @cached_property
    def lines(self) -> frozenset[str]:
        return frozenset(fold(line) for line in self.text.splitlines())

    def find(self, quote: str) -> QuoteWorth:
        """Return the worth of a quote as evidence in this exhibit. `...` in the quote stands for omitted words."""
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
        """Return the worth of a passage of the text. A whole line may be short if it occurs only once."""
        if weight(passage) < LEAST and passage != text and passage not in self.lines:
            return QuoteWorth.SHORT
        often = text.find(passage, text.find(passage) + 1) >= 0
        return QuoteWorth.OFTEN if often and weight(passage) < AMPLE else QuoteWorth.EVIDENCE
