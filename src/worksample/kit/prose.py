"""Free text, as far as code can judge it: what is mentioned, and which numbers are given."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .check import Check
from .numbers import close, number

_DIGITS = r"(?:\d{1,3}(?:[ '\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?(?![\d])|\d(?:[\d,.]*\d)?)"
_NUMBER = re.compile(rf"(?<![\w.])\(?[-+\u2212]?[$€£¥]?{_DIGITS}(?:\s?%)?\)?", re.ASCII)
_MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


def flat(text: str) -> str:
    """Text for comparison: NFKC, case folded, typographic quotes and dashes as plain ones, spaces collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).casefold().split())


def words(text: str) -> int:
    """How many words: runs of characters between white space that hold a letter or a digit."""
    return sum(1 for w in text.split() if any(c.isalnum() for c in w))


def mentions(text: str, phrases: Sequence[str | Sequence[str]], *, whole: bool = True) -> Check:
    """The share of `phrases` that occur; a sequence among them stands for alternatives, any of which will do.

    whole: a phrase counts only between word boundaries, so that "cat" is not in "category".
    """
    plain = flat(text)
    missing = []
    for phrase in phrases:
        options = [phrase] if isinstance(phrase, str) else list(phrase)
        if not any(_occurs(plain, flat(o), whole) for o in options):
            missing.append(" or ".join(repr(o) for o in options))
    share = 1 - len(missing) / len(phrases) if phrases else 1.0
    return Check(share, f"does not mention {', '.join(missing[:10])}" if missing else "")


def _occurs(text: str, phrase: str, whole: bool) -> bool:
    if not whole:
        return phrase in text
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def numbers_in(text: str) -> list[float]:
    """All numbers in a text, in order, written in any way that `number` understands."""
    found = []
    for match in _NUMBER.finditer(text[:2_000_000]):
        piece = match.group().strip()
        if piece.startswith("(") != piece.endswith(")"):
            piece = piece.strip("()")
        value = number(piece)
        if value is None:
            found += [v for v in (number(p) for p in piece.split(",")) if v is not None]
        else:
            found.append(value)
    return found


def says(text: str, value: float, *, tolerance: float = 0.0, near: str = "", reach: int = 200) -> Check:
    """Whether a text gives `value`, within `tolerance`; with `near`, within `reach` characters of that phrase."""
    places = [text]
    if near:
        plain, phrase = flat(text), flat(near)
        starts = [m.start() for m in re.finditer(re.escape(phrase), plain)][:1_000]
        if not starts:
            return Check(0.0, f"does not mention {near!r}")
        places = [plain[max(0, s - reach) : s + len(phrase) + reach] for s in starts]
    given = any(close(n, value, tolerance) for place in places for n in numbers_in(place))
    where = f" near {near!r}" if near else ""
    return Check.of(given, "" if given else f"does not give {value:g}{where}")
