"""Reader of ELF headers. It finds the loader of an executable, and the libraries that a file needs.

`ldd` is not used, because `ldd` may execute the file. Source: System V ABI, gABI 4.1, chapters 4 and 5.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_HEADER, _SEGMENT, _ENTRY = struct.Struct("<16sHHIQQQIHHH"), struct.Struct("<IIQQQQQQ"), struct.Struct("<qQ")
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS = 1, 5
_MOST = 1 << 20
"""Maximum number of bytes of a table in an ELF file. A file with a larger table is rejected."""


@dataclass(frozen=True, slots=True)
class Elf:
    """Parts of one file's ELF header."""

    loader: str
    """Path of the loader with which the kernel starts the file; "" for libraries and static executables."""
    at: int
    """Offset of the loader's path in the file, in bytes."""
    room: int
    """Number of bytes available for the loader's path, including the closing zero byte."""
    needed: tuple[str, ...]
    """Names of the shared libraries that the file needs."""


def read_elf(path: Path) -> Elf | None:
    """Read the ELF header of a file. Return None unless the file is an intact 64-bit ELF file of this machine's byte
    order. Raises OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        try:
            return _read_header(file)
        except (struct.error, ValueError, OverflowError):
            return None


def _read_header(file: BinaryIO) -> Elf | None:
    head = file.read(_HEADER.size)
    if head[:6] != b"\x7fELF\x02\x01":
        return None
    header = _HEADER.unpack(head)
    start, size, count = header[5], header[9], header[10]
    segments = [_SEGMENT.unpack(_read_at(file, start + size * number, _SEGMENT.size)) for number in range(count)]
    loader, at, room = "", 0, 0
    needed: tuple[str, ...] = ()
    for kind, _, offset, _, _, length, _, _ in segments:
        if kind == _INTERPRETER:
            at, room = offset, length
            loader = _read_at(file, offset, length).partition(b"\0")[0].decode()
        elif kind == _DYNAMIC:
            needed = _needed_libraries(
                file, segments, list(_ENTRY.iter_unpack(_read_at(file, offset, length - length % _ENTRY.size)))
            )
    return Elf(loader, at, room, needed)


def _needed_libraries(
    file: BinaryIO, segments: list[tuple[int, ...]], entries: list[tuple[int, int]]
) -> tuple[str, ...]:
    strings = next((value for tag, value in entries if tag == _STRINGS), None)
    if strings is None:
        return ()
    (place,) = [s[2] + strings - s[3] for s in segments if s[0] == _LOAD and s[3] <= strings < s[3] + s[5]][:1] or (0,)
    names = (_read_at(file, place + value, 256, short=True) for tag, value in entries if tag == _NEEDED)
    return tuple(name.partition(b"\0")[0].decode() for name in names)


def _read_at(file: BinaryIO, offset: int, size: int, *, short: bool = False) -> bytes:
    if not 0 <= size <= _MOST or not 0 <= offset <= os.fstat(file.fileno()).st_size:
        raise ValueError(f"the ELF header names an impossible range: {size} bytes at offset {offset}")
    file.seek(offset)
    found = file.read(size)
    if len(found) < size and not short:
        raise ValueError(offset)
    return found
