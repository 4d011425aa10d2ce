"""Blind copies of TIFF. Fields that name people, programs and places are removed, and their values are overwritten."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

TELLS = {
    269, 270, 271, 272, 285, 305, 306, 315, 316, 33432, 700, 33723, 34377, 37724, 40091, 40092, 40093, 40094, 40095,
    42016, 42032, 42033, 42035, 42036, 42037, 42112, 50341, 50706, 50708, 50735, 36867, 36868, 37510, 37500, 36880,
}  # fmt: skip
"""Numbers of the TIFF fields that are removed: names, descriptions, makes, models, programs, dates, artists, copyright,
XMP, IPTC, and notes of Photoshop and GDAL.
"""
_BELOW = {34665, 34853, 40965}
"""Numbers of the fields that point to the directories of Exif, GPS and interoperability. These directories are removed
completely.
"""
_SUB = 330
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
MOST, FIELDS = 4096, 200_000
"""Maximum directories and maximum fields of a TIFF file."""


@dataclass
class _File:
    data: bytearray
    order: str
    big: bool
    fields: int = 0
    blanked: int = 0

    def number(self, at: int, kind: str) -> int:
        return int(struct.unpack_from(self.order + kind, self.data, at)[0])

    @property
    def offset(self) -> tuple[str, int]:
        """Return the struct format of an offset and its size in bytes."""
        return ("Q", 8) if self.big else ("I", 4)


@dataclass(frozen=True)
class _Field:
    at: int
    tag: int
    size: int
    """Size of the field's value in bytes."""
    value: int
    """Offset of the field's value in the file."""


def _open(data: bytes) -> tuple[_File, int]:
    order = "<" if data[:2] == b"II" else ">"
    big = struct.unpack_from(order + "H", data, 2)[0] == 43
    file = _File(bytearray(data), order, big)
    return file, file.number(8, "Q") if big else file.number(4, "I")


def _fields(file: _File, at: int) -> Iterator[_Field]:
    count = file.number(at, "Q" if file.big else "H")
    head, length = (8, 20) if file.big else (2, 12)
    code, inline = file.offset
    for n in range(count):
        file.fields += 1
        if file.fields > FIELDS:
            raise ValueError("the TIFF has too many fields")
        place = at + head + n * length
        kind = file.number(place + 2, "H")
        size = _SIZES.get(kind, 1) * file.number(place + 4, code)
        value = place + length - inline if size <= inline else file.number(place + length - inline, code)
        yield _Field(place, file.number(place, "H"), size, value)


def orientation_of(data: bytes) -> int:
    """Return the orientation in an Exif block, from 1 to 8. Return 1 if the block has no orientation or cannot be
    read.
    """
    try:
        file, at = _open(data)
        for field in _fields(file, at):
            if field.tag == 0x0112:
                turned = file.number(field.value, "H")
                return turned if 1 <= turned <= 8 else 1
    except (struct.error, IndexError):
        pass
    return 1


def tiff(data: bytes) -> bytes:
    """Return a TIFF of the same size without metadata. Raises struct.error or ValueError if the file is malformed."""
    file, at = _open(data)
    seen: set[int] = set()
    while at:
        at = _directory(file, at, seen, everything=False)
    return bytes(file.data)


def _directory(file: _File, at: int, seen: set[int], *, everything: bool) -> int:
    """Remove metadata from one directory of a TIFF. Return the offset of the next directory, or 0 if it is the last."""
    if at in seen or len(seen) > MOST:
        raise ValueError("the TIFF's directories form a loop")
    seen.add(at)
    code, width = file.offset
    head, length = (8, 20) if file.big else (2, 12)
    fields = list(_fields(file, at))
    kept = []
    for field in fields:
        if field.tag in _BELOW:
            _directory(file, file.number(field.value, code if field.size == width else "I"), seen, everything=True)
            _overwrite(file, field.value, field.size)
        elif everything or field.tag in TELLS:
            _overwrite(file, field.value, field.size)
        else:
            kept.append(bytes(file.data[field.at : field.at + length]))
            if field.tag == _SUB:
                for n in range(min(field.size // width, 64)):
                    below = file.number(field.value + n * width, code)
                    while below:
                        below = _directory(file, below, seen, everything=False)
    tail = at + head + len(fields) * length
    next = file.number(tail, code) if not everything else 0
    if not everything:
        struct.pack_into(file.order + ("Q" if file.big else "H"), file.data, at, len(kept))
        body = b"".join(kept) + struct.pack(file.order + code, next)
        file.data[at + head : tail + width] = body.ljust(len(fields) * length + width, b"\0")
    return next


def _overwrite(file: _File, at: int, size: int) -> None:
    end = min(at + size, len(file.data))
    if 8 <= at < end:
        file.blanked += end - at
        if file.blanked > 2 * len(file.data):
            raise ValueError("values of the TIFF overlap")
        file.data[at:end] = b"\0" * (end - at)
