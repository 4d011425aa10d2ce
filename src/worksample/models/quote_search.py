"""Evidence: whether the words that a judge quotes stand in an exhibit, and are enough to be found there."""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from functools import cached_property

from .exhibit_delimiters import MARK, shown
from .invisible_characters import without_unseen

LEAST = 4
"""Letters and digits that a quote needs at least; a sign of Chinese, Japanese or Korean counts as two."""
AMPLE = 30
"""Letters and digits of a passage that may stand in an exhibit more than once: it is evidence of each."""
_WRITTEN_OUT = re.compile(r"\[U\+[0-9A-F]{4,6}\]")
_ELLIPSIS = re.compile(r"\[\s*\.\.\.\s*\]|\(\s*\.\.\.\s*\)|\.{3,}")
_SINGLE = dict.fromkeys(map(ord, "‘’‚‛′ʼ`´＇ʹ"), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_DROPPED = dict.fromkeys(map(ord, '"“”„‟«»‹›″＂*_'), "")
"""Quotation marks, which a table doubles and JSON escapes, and Markdown's emphasis."""
_LOOKS = _SINGLE | _DASHES | _DROPPED
_NO_APOSTROPHE = re.compile(r"(?<!\w)'|'(?!\w)")
"""A single quotation mark, unlike the apostrophe of a word."""
_HYPHENATED = re.compile(r"(?<=\w)-\s*\n\s*(?=\w)")


class Found(Enum):
    """What a quote is worth."""

    EVIDENCE = "evidence"
    NOWHERE = "nowhere"
    SHORT = "short"
    """It has too few letters and digits to be told from chance."""
    OFTEN = "often"
    """It stands in several places, and is short."""


def folded(text: str) -> str:
    """Text as quotes are compared: without marks, typography, case, and what nobody sees; white space as one space."""
    text = "\n".join(line.removeprefix(MARK) for line in shown(text).split("\n"))
    text = without_unseen(_WRITTEN_OUT.sub("", text)).translate(_LOOKS)
    text = _NO_APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).translate(_LOOKS))
    return " ".join(text.casefold().split())


def weight(text: str) -> int:
    """How many letters and digits a text has."""
    return sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in text if c.isalnum())


class Searchable:
    """An exhibit's text, folded once for all the quotes that are looked for in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text as it stands, and with words joined that a line's end parts."""
        return tuple({folded(self.text): 0, folded(_HYPHENATED.sub("", self.text)): 0})

    @cached_property
    def lines(self) -> frozenset[str]:
        return frozenset(folded(line) for line in self.text.splitlines())

    def find(self, quote: str) -> Found:
        """What a quote is worth as evidence here. `...` in it stands for words that were left out."""
        if not weight(folded(quote)):
            return Found.SHORT
        worth = [self._worth(quote, text) for text in self.texts]
        return next((best for best in (Found.EVIDENCE, Found.OFTEN, Found.SHORT) if best in worth), Found.NOWHERE)

    def _worth(self, quote: str, text: str) -> Found:
        whole = folded(quote)
        if whole in text:
            return self._of_passage(whole, text)
        passages = [p for p in map(folded, _ELLIPSIS.split(unicodedata.normalize("NFKC", quote))) if p]
        place = 0
        for passage in passages:
            place = text.find(passage, place)
            if place < 0:
                return Found.NOWHERE
            place += len(passage)
        worth = [self._of_passage(passage, text) for passage in passages]
        return next((best for best in (Found.EVIDENCE, Found.OFTEN) if best in worth), Found.SHORT)

    def _of_passage(self, passage: str, text: str) -> Found:
        """What a passage is worth that stands in the text. A whole line needs no length, if it stands there once."""
        if weight(passage) < LEAST and passage != text and passage not in self.lines:
            return Found.SHORT
        often = text.find(passage, text.find(passage) + 1) >= 0
        return Found.OFTEN if often and weight(passage) < AMPLE else Found.EVIDENCE
