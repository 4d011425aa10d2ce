"""Encodings of text, recognised from the bytes. Code pages are never guessed."""

from __future__ import annotations

import codecs

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order mark -> encoding. Longer marks come before those that they begin with."""


def marked_encoding(head: bytes) -> str:
    """Return the encoding that the first bytes prove, or "": a byte order mark, or UTF-16 with 0 as
    every second byte.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    pairs = len(head) // 2
    if pairs >= 2 and b"\0" in head:
        even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
        if odd > 0.7 * pairs and even < 0.1 * pairs:
            return "utf-16-le"
        if even > 0.7 * pairs and odd < 0.1 * pairs:
            return "utf-16-be"
    return ""


def is_text_encoding(name: str) -> bool:
    """Return whether Python knows a text encoding by this name."""
    try:
        info = codecs.lookup(name)
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return False
    return bool(getattr(info, "_is_text_encoding", True))
