"""Text encodings: detection and decoding."""

from __future__ import annotations

import codecs
import re
from functools import cache

from worksample.files.tables.encodings import BYTE_ORDER_MARKS

_CONTROL = frozenset(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}


def encoding(data: bytes, *, whole: bool = True) -> str | None:
    """Return the name of a text's encoding, or None if the data is not text. If `whole` is false, the data may end
    within a character.
    """
    for bom, name in BYTE_ORDER_MARKS:
        if data.startswith(bom):
            return name
    if b"\0" in data:
        return _detect_utf16(data)
    if sum(data.count(bytes([c])) for c in _CONTROL) > len(data) // 100:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    return _guess(data)


def _detect_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: in mostly Latin text every other byte is 0."""
    sample = data[:4096]
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if zeros.count(0) > 0.7 * len(zeros) and (len(data) - data.count(0)) * 2 >= len(data) * 0.9:
            text = data[: len(data) & ~1].decode(name, "replace")
            if text.count("\ufffd") <= 1 and sum(c < " " and c not in "\t\n\r\f" for c in text) <= len(text) // 100:
                return name
    return None


FEW = 64
"""Minimum number of letters beyond ASCII for which the encoding is detected by language statistics."""


COMMON = (
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp866", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874",
    "mac_roman", "cp437", "cp850", "cp852", "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949",
)  # fmt: skip
"""Encodings in common use, to which the detection is limited. With all encodings of Python, statistics often choose
very rare encodings for short texts.
"""


def _guess(data: bytes) -> str | None:
    high = sum(data.count(c) for c in _high_bytes())
    if high > len(data) * 0.6 and any(data.count(bytes([c])) for c in _CONTROL):
        return None
    if high <= FEW and (name := _european(data)):
        return name
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return "cp1252" if high <= len(data) * 0.6 else None
    best = from_bytes(data[:65536], cp_isolation=list(COMMON)).best()
    if best is None:
        return "cp1252" if high <= len(data) * 0.6 else None
    # Statistics take Spanish for Polish: `ñ` and `ń` are the same byte.
    western = best.encoding == "cp1250" and set(data) & _DIFFERENT <= _WESTERN and _fits(data, "cp1252")
    return "cp1252" if western else best.encoding


def _european(data: bytes) -> str:
    """Return the Western or Central European code page of a short Latin text; "" if neither fits.

    Statistics take a single `ñ` for a Chinese character. If both fit, the Western one is more common.
    """
    letters = sum(chr(byte).isalpha() for byte in data if byte < 128)
    if _RUN.search(data) or letters < sum(byte > 127 for byte in data):
        return ""
    fits = [name for name in ("cp1252", "cp1250") if _fits(data, name)]
    return "cp1250" if "cp1250" in fits and _CENTRAL.search(data) else fits[0] if fits else ""


_DIFFERENT = {
    b for b in range(128, 256) if bytes([b]).decode("cp1250", "replace") != bytes([b]).decode("cp1252", "replace")
}
_WESTERN = set("àãåæèêëñòùïÿ¡¿ªºÀÈÊÑ".encode("cp1252"))
"""Bytes of Western letters that are rarer letters in the Central European code page."""
_RUN = re.compile(rb"[\xa1-\xaa\xac-\xba\xbc-\xff]{3}")
"""Three letters beyond ASCII in a row, which hardly occur in Latin text."""
_CENTRAL = re.compile(
    rb"[\x8a\x8d-\x8f\x9a\x9d-\x9f](?=[a-z])|(?<=[a-z])[\x9a\x9d-\x9f]|\xf8.*[\xec\xf2]|[\xec\xf2].*\xf8", re.S
)
"""Letter positions typical of Czech, Slovak, Slovene, Croatian and Polish, and rare in Western languages."""
_MARK_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s!-~\u2018\u2019\u2010-\u2015\xad\xa0\xb7/](?=[^\W\d_])")


def _fits(data: bytes, name: str) -> bool:
    """Return whether every byte is a character in the encoding `name`, and no sign such as `£` stands within a word."""
    try:
        return _MARK_IN_WORD.search(data.decode(name)) is None
    except UnicodeDecodeError:
        return False


@cache
def _high_bytes() -> tuple[bytes, ...]:
    return tuple(bytes([c]) for c in range(128, 256))


def decode(data: bytes, *, whole: bool = True) -> str | None:
    """Return data as text, with invalid bytes replaced. Return None if the data is not text."""
    name = encoding(data, whole=whole)
    return None if name is None else data.decode(name, "replace")
