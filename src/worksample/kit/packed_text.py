"""A reader of texts that are packed or encoded: archives, compressed files, office documents, base64 and hexadecimal.

Limits hold for all steps together, so a bomb costs no more than a large file.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from .text import decode

LIMIT = 16 << 20
"""Maximum number of bytes that are unpacked of one text."""
DEPTH = 3
"""Maximum number of packings inside each other."""
MEMBERS = 500
"""Maximum number of files of one archive."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]{12,}(?:\r?\n[A-Za-z0-9+/_=-]{4,})*")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:]?){8,}")
_BLOCK = re.compile(rb"</(?:[\w-]+:)?(?:p|h|row|c|si|td|tr|li|div|table-cell)>")
"""Pattern of the tags after which words of an office document do not belong to the words before."""
_CONTROL, _RUN = re.compile(r"[\x00-\x08\x0e-\x1a]"), re.compile(r"[ -~\xa0-\xff]{6,}")
_RAW_PDF = re.compile(rb"stream\r?\n(.*?)endstream", re.S)


def readable_texts(data: bytes) -> Iterator[str]:
    """Yield the text of some bytes, and the texts that are packed or encoded in it.

    Found are texts in any Unicode encoding or Latin-1; in gzip, bzip2, xz, zip and tar (and so in office documents,
    whose markup is removed); in compressed parts of a PDF; in base64 and hexadecimal; and backwards. Bytes beyond the
    limits are left out.
    """
    left = [LIMIT]
    yield from _unpack(data, DEPTH, left)


def _unpack(data: bytes, depth: int, left: list[int]) -> Iterator[str]:
    data = data[: max(0, left[0])]
    left[0] -= len(data)
    if not data:
        return
    text, encoding = decode(data)
    if text.count("\0") > len(text) // 4:  # UTF-16 without a mark, by its zeros
        text = data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", "replace")
    elif encoding == "latin-1" and _CONTROL.search(text):  # no text: the runs of letters in it
        text = "\n".join(_RUN.findall(text))
    yield text
    yield text[::-1]
    if depth:
        for inner in (*_read_archive(data, left), *_decode_pieces(text)):
            yield from _unpack(inner, depth - 1, left)


def _read_archive(data: bytes, left: list[int]) -> Iterator[bytes]:
    most = max(0, left[0])
    try:
        if data[:2] == b"\x1f\x8b":
            yield zlib.decompressobj(31).decompress(data, most)
        elif data[:3] == b"BZh":
            yield bz2.BZ2Decompressor().decompress(data, most)
        elif data[:6] == b"\xfd7zXZ\x00":
            yield lzma.LZMADecompressor(memlimit=256 << 20).decompress(data, most)
        elif data[:4] == b"PK\x03\x04":
            yield from _read_zip(data, most)
        elif data[257:262] == b"ustar":
            yield from _read_tar(data)
        elif data[:5] == b"%PDF-":
            for part in list(_RAW_PDF.finditer(data))[:MEMBERS]:
                yield zlib.decompressobj().decompress(part[1].lstrip(b"\r\n"), most)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError,
            NotImplementedError, RuntimeError):  # fmt: skip
        return  # broken, encrypted or another format: what was read until then counts


def _read_zip(data: bytes, most: int) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()[:MEMBERS]
        yield "\n".join(one.filename for one in members).encode("utf-8", "replace")
        for one in members:
            with archive.open(one) as file:
                inner = file.read(most)
            yield inner
            if one.filename.endswith((".xml", ".html")):
                yield re.sub(rb"<[^>]{0,2000}>", b"", _BLOCK.sub(b"\n", inner))


def _read_tar(data: bytes) -> Iterator[bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for count, one in enumerate(archive):
            if count >= MEMBERS:
                return
            file = archive.extractfile(one) if one.isfile() else None
            yield one.name.encode("utf-8", "replace") + b"\n" + (file.read(LIMIT) if file else b"")


def _decode_pieces(text: str) -> Iterator[bytes]:
    for found in list(_BASE64.finditer(text))[:MEMBERS]:
        piece = re.sub(r"\s|=+$", "", found[0]).replace("-", "+").replace("_", "/").replace("=", "")
        try:
            inner = base64.b64decode(piece + "=" * (-len(piece) % 4))
        except (binascii.Error, ValueError):
            continue
        if _is_plain(inner) or inner[:2] in (b"\x1f\x8b", b"PK", b"BZ"):
            yield inner
    for found in list(_HEX.finditer(text))[:MEMBERS]:
        digits = re.sub(r"[\s:]", "", found[0])
        inner = bytes.fromhex(digits[: len(digits) // 2 * 2])
        if _is_plain(inner):
            yield inner


def _is_plain(data: bytes) -> bool:
    """Return whether bytes look like text, so that chance hits of ordinary words are not followed."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return len(text) >= 4 and all(one.isprintable() or one in "\r\n\t" for one in text)
