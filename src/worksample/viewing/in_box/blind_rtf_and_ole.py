"""Blind copies of RTF and of the compound files (OLE) of older Office programs."""

from __future__ import annotations

import io
import re
import struct

from .conversion_job import MissingConverter

_GROUPS = re.compile(
    rb"\{\s*(?:\\\*\s*)?\\(info|generator|userprops|xmlnstbl|company|atnauthor|atnid|atrfauthor|password|template)\b"
)
_PEOPLE = re.compile(rb"\{\s*\\\*\s*\\revtbl\b")
_PROPERTIES = ("\x05SummaryInformation", "\x05DocumentSummaryInformation")
WRITER = 0x5C
"""Number of the workbook record that names the last writer ([MS-XLS] 2.4.349)."""


def rich(data: bytes) -> bytes:
    r"""Remove from RTF `\info`, `\generator` and similar groups. Names of people in tracked changes become numbers."""
    out, at = [], 0
    for found in _GROUPS.finditer(data):
        if found.start() < at:
            continue
        end = _group_end(data, found.start())
        out.append(data[at : found.start()])
        if found.group(1) == b"atnauthor":
            out.append(b"{\\*\\atnauthor Author}")
        at = end
    data = b"".join([*out, data[at:]])
    table = _PEOPLE.search(data)
    if not table:
        return data
    end = _group_end(data, table.start())
    count = len(re.findall(rb"\{[^{}]*;\}", data[table.end() : end]))
    people = b"".join(b"{Author %d;}" % n for n in range(count))
    return data[: table.start()] + b"{\\*\\revtbl " + people + b"}" + data[end:]


def _group_end(data: bytes, at: int) -> int:
    """Return the position after the brace that closes the group starting at `at`."""
    depth = 0
    while at < len(data):
        byte = data[at : at + 1]
        if byte == b"\\":
            counted = re.match(rb"\\bin(\d+) ?", data[at : at + 20])
            at += len(counted.group()) + int(counted.group(1)) if counted else 2
            continue
        depth += (byte == b"{") - (byte == b"}")
        at += 1
        if depth == 0:
            return at
    raise ValueError("a group of the RTF file has no end")


def compound(data: bytes, leaks: list[str]) -> bytes:
    """Empty the property streams of a DOC, XLS or PPT in place, and the last writer of a workbook. Raises ValueError if
    the file is damaged; MissingConverter if the library for this is missing.
    """
    try:
        import olefile
    except ImportError as e:
        raise MissingConverter("olefile") from e
    file = io.BytesIO(data)
    with olefile.OleFileIO(file, write_mode=True) as ole:
        names = _names(ole)
        for path in ole.listdir():
            if path[-1] in _PROPERTIES:
                size = ole.get_size(path)
                ole.write_stream(path, _no_properties(size, path[-1] == _PROPERTIES[0]))
            elif path[-1] in ("Workbook", "Book"):
                ole.write_stream(path, _without_writer(ole.openstream(path).read()))
    out = file.getvalue()
    # Word and PowerPoint also store names in parts that are not rewritten.
    if any(n in out or n.decode("latin-1").encode("utf-16-le") in out for n in names if len(n) > 2):
        leaks.append("a name from its properties stands elsewhere in it as well")
    return out


def _names(ole: object) -> list[bytes]:
    about = ole.get_metadata()  # type: ignore[attr-defined]
    found = (about.author, about.last_saved_by, about.company, about.manager)
    return [n.strip() for n in found if isinstance(n, bytes) and n.strip()]


def _no_properties(size: int, summary: bool) -> bytes:
    """Return an empty property set ([MS-OLEPS] 2.21), padded with zeros to `size` bytes."""
    kind = "e0859ff2f94f6810ab9108002b27b3d9" if summary else "02d5cdd59c2e1b10939708002b2cf9ae"
    head = struct.pack("<HHI16xI", 0xFFFE, 0, 0, 1) + bytes.fromhex(kind) + struct.pack("<III", 48, 8, 0)
    return head[:size].ljust(size, b"\0")


def _without_writer(book: bytes) -> bytes:
    out, at = bytearray(book), 0
    while at + 4 <= len(out):
        kind, size = struct.unpack_from("<HH", out, at)
        if kind == WRITER:
            out[at + 4 : at + 4 + size] = (b"\0\0\0" + b" " * size)[:size]
            break
        if kind == 0 and size == 0:
            break
        at += 4 + size
    return bytes(out)
