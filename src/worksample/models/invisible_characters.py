"""Detection of invisible characters by their Unicode properties, and their replacement by visible code points."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

_IGNORABLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Ranges of characters with the property Default_Ignorable_Code_Point in the Unicode Character Database. Python's
`unicodedata` does not provide this property.
"""
_BLANK = (0x2800, 0xFFFC, 0x16FE4, 0x1D159)
"""Characters that fonts draw without ink, so that they are invisible: the empty Braille pattern, the object replacement
anchor, a Khitan filler and a null notehead.
"""
_NAMELESS = ("Cc", "Cf", "Cs", "Co", "Cn")
"""Unicode categories whose characters no font draws: control, format, lone surrogate, private use, and unassigned."""
_KEPT = "\n\t"


def is_invisible(character: str) -> bool:
    """Return whether a reader of the rendered text cannot see this character."""
    code = ord(character)
    if code in _BLANK or any(first <= code <= last for first, last in _IGNORABLE):
        return True
    return character not in _KEPT and unicodedata.category(character) in _NAMELESS


def spell_out_invisible(text: str) -> str:
    """Return `text` with every invisible character replaced by its code point, such as `[U+200B]`, and every kind of
    space replaced by a plain space.
    """
    return _replace(text, lambda character: f"[U+{ord(character):04X}]")


def remove_invisible(text: str) -> str:
    """Return `text` without its invisible characters."""
    return _replace(text, lambda character: "")


def _replace(text: str, put: Callable[[str], str]) -> str:
    if text.isascii() and text.isprintable():
        return text
    table = {ord(c): put(c) for c in set(text) if is_invisible(c)}
    table |= {ord(c): " " for c in set(text) if unicodedata.category(c) == "Zs"}
    return text.translate(table)
