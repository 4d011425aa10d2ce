"""Blind copies of ISO media files (films, sound and AVIF). Metadata is overwritten in place, so that no offset
changes.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

_INTO = {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"moof", b"traf", b"mvex"}
_GONE = {b"udta", b"uuid", b"meta", b"XMP_", b"id3 "}
_TOP_GONE = {b"free", b"skip", b"wide", *_GONE}
_SAID = {b"avc1", b"avc3", b"hvc1", b"hev1", b"av01", b"vp09", b"vp08", b"mp4v", b"jpeg", b"apcn", b"apch", b"ap4h"}
"""Sample entries of video formats in which 32 bytes contain the name of the encoder."""
DEEPEST, BOXES = 12, 200_000


Bytes = bytearray | mmap.mmap


def film(path: Path) -> None:
    """Remove metadata from an MP4, MOV or M4A in place. The boxes `udta`, `meta` and `uuid` become `free`; the names of
    handlers and encoders are emptied.

    Raises struct.error or ValueError if the file is malformed.
    """
    with path.open("r+b") as f, mmap.mmap(f.fileno(), 0) as out:
        _clean_level(out, 0, len(out), 0)


def _boxes(out: Bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield (kind, start, start of the body, end) of each box of an ISO media file."""
    left = BOXES
    while at + 8 <= end:
        left -= 1
        if left < 0:
            raise ValueError("the MP4 has too many boxes")
        size, kind = struct.unpack_from(">I4s", out, at)
        head = 8
        if size == 1:
            size, head = struct.unpack_from(">Q", out, at + 8)[0], 16
        elif size == 0:
            size = end - at
        if size < head or at + size > end:
            raise ValueError("a box of the MP4 is larger than the box around it")
        yield kind, at, at + head, at + size
        at += size


def _clean_level(out: Bytes, at: int, end: int, depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError("the MP4's boxes are nested too deeply")
    for kind, start, body, stop in list(_boxes(out, at, end)):
        if kind in (_TOP_GONE if depth == 0 else _GONE | {b"free", b"skip"}):
            out[start + 4 : start + 8] = b"free"
            out[body:stop] = bytes(stop - body)
        elif kind in _INTO:
            _clean_level(out, body, stop, depth + 1)
        elif kind == b"hdlr":
            # Four words of kind and reserved, then the name: without its length in QuickTime it is empty as well.
            out[body + 24 : stop] = bytes(max(0, stop - body - 24))
        elif kind == b"stsd":
            for entry, _, inner, _ in list(_boxes(out, body + 8, stop)):
                if entry in _SAID:
                    out[inner + 42 : inner + 74] = bytes(32)
        elif kind in (b"mvhd", b"tkhd", b"mdhd"):
            width = 8 if out[body] == 1 else 4
            out[body + 4 : body + 4 + 2 * width] = bytes(2 * width)


def items(data: bytes) -> bytes:
    """Overwrite the Exif and XMP items of an AVIF. Raises struct.error or ValueError if the file is malformed."""
    out = bytearray(data)
    for kind, _, body, stop in list(_boxes(out, 0, len(out))):
        if kind == b"uuid":
            out[body:stop] = bytes(stop - body)
        elif kind == b"meta":
            inner = {k: (b, s) for k, _, b, s in _boxes(out, body + 4, stop)}
            tells = _metadata_items(out, *inner[b"iinf"]) if b"iinf" in inner else {}
            if tells:
                for item, at, size in _places(out, *inner[b"iloc"], inner.get(b"idat", (0, 0))[0]):
                    if item in tells:
                        if at + size > len(out):
                            raise ValueError("an item of the MP4 lies outside the file")
                        out[at : at + size] = (_NO_EXIF if tells[item] == b"Exif" else b"").ljust(size, b"\0")[:size]
    return bytes(out)


_NO_EXIF = b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"
"""An Exif block without fields. It replaces an Exif item, because readers refuse an item that is not valid Exif."""


def _metadata_items(out: bytearray, body: int, stop: int) -> dict[int, bytes]:
    """Return number -> kind of the items that contain Exif or XMP."""
    version = out[body]
    found = {}
    for kind, _, inner, _ in list(_boxes(out, body + (6 if version == 0 else 8), stop)):
        if kind == b"infe" and out[inner] >= 2:
            wide = out[inner] >= 3
            number = struct.unpack_from(">I" if wide else ">H", out, inner + 4)[0]
            name = bytes(out[inner + (10 if wide else 8) : inner + (14 if wide else 12)])
            if name in (b"Exif", b"mime", b"uri "):
                found[int(number)] = name
    return found


def _places(out: bytearray, at: int, stop: int, idat: int) -> Iterator[tuple[int, int, int]]:
    """Yield (item, offset, size) of each item, from the box `iloc` (ISO/IEC 14496-12, 8.11.3)."""
    version = out[at]
    sizes, more = out[at + 4], out[at + 5]
    offset, length, base = sizes >> 4, sizes & 15, more >> 4
    index = more & 15 if version in (1, 2) else 0
    wide = version == 2
    count = struct.unpack_from(">I" if wide else ">H", out, at + 6)[0]
    at += 10 if wide else 8

    def number(size: int) -> int:
        nonlocal at
        value = int.from_bytes(out[at : at + size], "big")
        at += size
        return value

    for _ in range(count):
        if at > stop:
            raise ValueError("a table of the MP4 is larger than its box")
        item = number(4 if wide else 2)
        method = number(2) & 15 if version in (1, 2) else 0
        number(2)
        start = number(base)
        for _ in range(number(2)):
            number(index)
            place, size = start + number(offset), number(length)
            if at > stop:
                raise ValueError("a table of the MP4 is larger than its box")
            yield item, place + (idat if method == 1 else 0), size
