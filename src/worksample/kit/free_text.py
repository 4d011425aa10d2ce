"""Checks of free text that a program can make: whether the text contains certain phrases or numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from worksample.files.tables.numbers import marks_of, readings

from .check_score import Check
from .numbers import NumberCell, close, is_unclear, number, possible_numbers

_DIGITS = r"(?:\d{1,3}(?:[ '\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?(?![\d])|\d(?:[\d,.]*\d)?)"
_NUMBER = re.compile(rf"(?<![\w.])\(?[-+\u2212]?[$€£¥]?{_DIGITS}(?:\s?%)?\)?", re.ASCII)
_MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


def flat(text: str) -> str:
    """Return a text in a form for comparison: NFKC, case folded, with plain quotes and dashes, and with single
    spaces.
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).casefold().split())


def words(text: str) -> int:
    """Count the words in a text. A word is a run of characters between white space that contains a letter or a
    digit.
    """
    return sum(1 for w in text.split() if any(c.isalnum() for c in w))


def mentions(text: str, phrases: Sequence[str | Sequence[str]], *, whole: bool = True) -> Check:
    """Return the share of `phrases` that occur in a text. An item that is a list of phrases occurs if any of these
    phrases occurs.

    whole: whether a phrase must stand between word boundaries, so that "cat" does not occur in "category".
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


def numbers_in(text: str, decimal: str = "") -> list[float]:
    """Return all numbers in a text, in order of appearance, in any notation that `number` understands.

    `1.200` is 1.2 or 1200. `decimal` names the decimal mark; if it is empty, the other numbers of the text decide. If
    these numbers do not decide, the ambiguous number is left out. To accept both readings, use `says`.
    """
    pieces = _pieces(text)
    decimal = decimal or marks_of(pieces).decimal
    return [v for p in pieces if (v := number(NumberCell(p, decimal) if decimal else p)) is not None]


def _pieces(text: str) -> list[str]:
    """Return the parts of a text that are numbers, as text; `3,4,5` becomes three numbers."""
    found: list[str] = []
    for match in _NUMBER.finditer(text[:2_000_000]):
        piece = match.group().strip()
        if piece.startswith("(") != piece.endswith(")"):
            piece = piece.strip("()")
        found += [piece] if readings(piece).is_number else piece.split(",")
    return found


def says(text: str, value: float, *, tolerance: float = 0.0, near: str = "", reach: int = 200) -> Check:
    """Return 1 if a text contains the number `value`, otherwise 0.

    tolerance: allowed difference from `value`. near: a phrase; only numbers within `reach` characters of the phrase
    count. `1.200` is accepted as 1.2 and as 1200. If the point is not read as the decimal mark, the reason says so.
    """
    places = [text]
    if near:
        plain, phrase = flat(text), flat(near)
        starts = [m.start() for m in re.finditer(re.escape(phrase), plain)][:1_000]
        if not starts:
            return Check(0.0, f"does not mention {near!r}")
        places = [plain[max(0, s - reach) : s + len(phrase) + reach] for s in starts]
    pieces = [piece for place in places for piece in _pieces(place)]
    given = [p for p in pieces if any(close(n, value, tolerance) for n in possible_numbers(p))]
    if not given:
        return Check(0.0, f"does not give {value:g}{f' near {near!r}' if near else ''}")
    plainly = any((n := number(NumberCell(p, "."))) is not None and close(n, value, tolerance) for p in given)
    clear = plainly or any(not is_unclear(p) for p in given)
    return Check(1.0, "" if clear else f"{given[0]} is read as {value:g}")
