"""Workbooks (`.xlsx`), read cell by cell within limits."""

from __future__ import annotations

import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .source import Unreadable
from .table import Table, table_of

ARCHIVE_LIMIT = 32 << 20
"""Bytes of the file itself."""
UNPACKED_LIMIT = 96 << 20
"""Bytes of all members of the archive together."""
MEMBER_LIMIT = 10_000
CELL_LIMIT = 400_000
STRING_LIMIT = 400_000
"""Shared strings, which are kept in memory together."""
SHEET_LIMIT = 1_000
TAG_LIMIT = 6_000_000
"""Tags in all parts that are read piece by piece: sheets and shared strings."""
PART_TAG_LIMIT = 200_000
"""Tags in any other part, such as the styles, which is kept in memory whole."""
TAG_HEAD = 200
"""Bytes of a cut tag that are kept to tell what it is."""
_PIECEWISE = ("xl/worksheets/", "xl/sharedStrings.xml")


_STRING = re.compile(rb"<(?:\w+:)?si[\s/>]")
_SHEET = re.compile(rb"<(?:\w+:)?sheet[\s/>]")


def guard_archive(path: Path) -> None:
    """Unreadable for what is no zip archive or would unpack to more than `UNPACKED_LIMIT` bytes."""
    if path.stat().st_size > ARCHIVE_LIMIT:
        raise Unreadable(f"is larger than {ARCHIVE_LIMIT:,} bytes")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Unreadable(f"is not a workbook: {error}") from error
    if len(members) > MEMBER_LIMIT or sum(m.file_size for m in members) > UNPACKED_LIMIT:
        raise Unreadable(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
    names = [m.filename for m in members]
    if len(set(names)) != len(names):
        raise Unreadable("holds the same name twice")
    try:
        with zipfile.ZipFile(path) as archive:
            _guard_tags(archive)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError) as error:
        raise Unreadable(f"is not a sound workbook: {error}") from error


def _guard_tags(archive: zipfile.ZipFile) -> None:
    """Counts tags without parsing: a parser keeps a hundred bytes and more for the four of an empty element."""
    strings = sheets = piecewise = 0
    for member in archive.infolist():
        tags, size, tail = 0, 0, b""
        with archive.open(member) as part:
            while chunk := part.read(1 << 20):
                size += len(chunk)
                if size > UNPACKED_LIMIT:
                    raise Unreadable(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
                tags += chunk.count(b"<")
                # A tag that the chunk cuts is counted with the next one.
                whole, mark, rest = (tail + chunk).rpartition(b"<")
                strings += len(_STRING.findall(whole))
                sheets += len(_SHEET.findall(whole))
                tail = (mark + rest)[:TAG_HEAD]
        strings += len(_STRING.findall(tail))
        if member.filename.startswith(_PIECEWISE):
            piecewise += tags
        elif tags > PART_TAG_LIMIT and not member.filename.startswith("xl/media/"):
            raise Unreadable(f"has more than {PART_TAG_LIMIT:,} tags in {member.filename[:60]!r}")
    if strings > STRING_LIMIT:
        raise Unreadable(f"has more than {STRING_LIMIT:,} shared strings")
    if sheets > SHEET_LIMIT or piecewise > TAG_LIMIT:
        raise Unreadable(f"has more than {SHEET_LIMIT:,} sheets or {TAG_LIMIT:,} tags")


@contextmanager
def _book(path: Path, formulas: bool) -> Iterator[Any]:
    """A workbook for reading; whatever is raised while it is open is said to be the file's fault."""
    import openpyxl
    from defusedxml.common import DefusedXmlException
    from openpyxl.utils.exceptions import InvalidFileException

    guard_archive(path)
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            # Of extensions that are left out, and the like.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=not formulas, keep_links=False)
            try:
                yield book
            finally:
                book.close()
    except Unreadable:
        raise
    except DefusedXmlException as error:
        raise Unreadable(f"holds forbidden XML: {type(error).__name__}") from error
    except (
        InvalidFileException, LookupError, ValueError, TypeError, AttributeError, SyntaxError, EOFError,
        OSError, RuntimeError, ArithmeticError, AssertionError, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        raise Unreadable(f"is not a sound workbook: {type(error).__name__}: {error}") from error


def _cells(sheet: Any) -> Iterator[list[Any]]:
    count = 0
    for row in sheet.iter_rows(values_only=True):
        count += max(1, len(row))
        if count > CELL_LIMIT:
            raise Unreadable(f"has more than {CELL_LIMIT:,} cells")
        if any(isinstance(cell, float) and not math.isfinite(cell) for cell in row):
            raise Unreadable("holds a number beyond any number")
        if any(isinstance(cell, int) and abs(cell) >= 10**308 for cell in row):
            raise Unreadable("holds a number of more than 308 digits")
        yield list(row)


def read_cells(path: Path, sheet: str | int = 0, *, formulas: bool = False) -> list[list[Any]]:
    """All cells of a sheet (by name, or by position from 0 among those that are no charts), row by row.

    Values are those that the program that saved the workbook had computed; a formula that was never computed reads as
    None. `formulas=True` gives the formulas' text instead. Unreadable: no such sheet, no workbook, over a limit.
    """
    with _book(path, formulas) as book:
        names = list(book.sheetnames)
        if isinstance(sheet, int):
            of_cells = [one.title for one in book.worksheets]
            if not 0 <= sheet < len(of_cells):
                raise Unreadable(f"has {len(of_cells)} sheets of cells, none at {sheet}")
            sheet = of_cells[sheet]
        if sheet not in names:
            raise Unreadable(f"has no sheet {sheet!r}; it has {', '.join(map(str, names))}")
        found = book[sheet]
        if not hasattr(found, "iter_rows"):
            raise Unreadable(f"sheet {sheet!r} is a chart")
        found.reset_dimensions()
        return list(_cells(found))


def read_sheet(path: Path, sheet: str | int = 0) -> Table:
    """A sheet as a table, its first row that is not blank being the header. Unreadable as `read_cells`, `table_of`."""
    return table_of(read_cells(path, sheet))
