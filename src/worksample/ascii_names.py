"""Names in plain Latin letters, for ids made from titles, folders and people's names."""

from __future__ import annotations

import unicodedata

_WHOLE = str.maketrans({
    "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ı": "i",
})  # fmt: skip
"""Letters that are not a plain letter with an accent."""


def plain_letters(text: str) -> str:
    """Return `text` with Latin letters as a to z: `Logo für Łódź` is `Logo fur Lodz`. Letters of other scripts stay."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text.translate(_WHOLE)) if not unicodedata.combining(c))
