"""Bytes as text: which encoding, and is it text at all."""

from __future__ import annotations

import codecs
from functools import cache

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = frozenset(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}


def encoding(data: bytes, *, whole: bool = True) -> str | None:
    """The encoding of text; None where it is none. `whole` False: the data may be cut within a character."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return name
    if b"\0" in data:
        return _wide(data)
    if sum(data.count(bytes([c])) for c in _CONTROL) > len(data) // 100:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    return _guess(data)


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark at its beginning: of mostly Latin letters, every other byte is 0."""
    sample = data[:4096]
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if zeros.count(0) > 0.7 * len(zeros) and (len(data) - data.count(0)) * 2 >= len(data) * 0.9:
            text = data[: len(data) & ~1].decode(name, "replace")
            if text.count("\ufffd") <= 1 and sum(c < " " and c not in "\t\n\r\f" for c in text) <= len(text) // 100:
                return name
    return None


def _guess(data: bytes) -> str | None:
    if sum(data.count(c) for c in _high()) > len(data) * 0.6:
        return None
    try:
        from charset_normalizer import from_bytes

        best = from_bytes(data[:65536]).best()
        return best.encoding if best is not None else "cp1252"
    except ImportError:
        return "cp1252"


@cache
def _high() -> tuple[bytes, ...]:
    return tuple(bytes([c]) for c in range(128, 256))


def decode(data: bytes, *, whole: bool = True) -> str | None:
    """As text with what cannot be decoded replaced; None where it is none."""
    name = encoding(data, whole=whole)
    return None if name is None else data.decode(name, "replace")
