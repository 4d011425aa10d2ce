"""A reader of workbooks (`.xlsx`), cell by cell, with limits on the size."""

from __future__ import annotations

import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

from worksample.errors import Cause, GraderError
from worksample.files.tables.workbook_values import is_strict, values_only, well_formed

from .source import UnreadableSource
from .table import Table, read_csv, table_of

T = TypeVar("T")

ARCHIVE_LIMIT = 32 << 20
"""Maximum size of a workbook file in bytes."""
UNPACKED_LIMIT = 96 << 20
"""Maximum size in bytes of all files in the workbook's zip archive together, after unpacking."""
MEMBER_LIMIT = 10_000
CELL_LIMIT = 400_000
STRING_LIMIT = 400_000
"""Maximum number of shared strings of a workbook, which are all held in memory at once."""
SHEET_LIMIT = 1_000
TAG_LIMIT = 6_000_000
"""Maximum number of XML tags in all sheets and shared strings of a workbook together. These parts are read piece by
piece.
"""
PART_TAG_LIMIT = 200_000
"""Maximum number of XML tags in any other part of a workbook, such as the styles. Such a part is held in memory as a
whole.
"""
TAG_HEAD = 200
"""Number of bytes that are kept of an XML tag if the end of a chunk cuts the tag. These bytes suffice to recognise the
tag.
"""
_PIECEWISE = ("xl/worksheets/", "xl/sharedStrings.xml")


_STRING = re.compile(rb"<(?:\w+:)?si[\s/>]")
_SHEET = re.compile(rb"<(?:\w+:)?sheet[\s/>]")


def guard_archive(path: Path) -> None:
    """Check a workbook file before it is opened. Raises UnreadableSource if the file is not a valid zip archive, is too
    large before or after unpacking, or has too many XML tags.
    """
    if path.stat().st_size > ARCHIVE_LIMIT:
        raise UnreadableSource(f"is larger than {ARCHIVE_LIMIT:,} bytes")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UnreadableSource(f"is not a workbook: {error}") from error
    if len(members) > MEMBER_LIMIT or sum(m.file_size for m in members) > UNPACKED_LIMIT:
        raise UnreadableSource(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
    names = [m.filename for m in members]
    if len(set(names)) != len(names):
        raise UnreadableSource("holds two parts with the same name")
    try:
        with zipfile.ZipFile(path) as archive:
            _guard_tags(archive)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError) as error:
        raise UnreadableSource(f"is a damaged workbook: {error}") from error


def _guard_tags(archive: zipfile.ZipFile) -> None:
    """Count the XML tags in each part without parsing. Raises UnreadableSource if a part has too many tags.

    A parser uses more than a hundred bytes of memory for an empty element of four bytes.
    """
    strings = sheets = piecewise = 0
    for member in archive.infolist():
        tags, size, tail = 0, 0, b""
        with archive.open(member) as part:
            while chunk := part.read(1 << 20):
                size += len(chunk)
                if size > UNPACKED_LIMIT:
                    raise UnreadableSource(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
                tags += chunk.count(b"<")
                # A tag that is cut by the end of a chunk is counted with the next chunk.
                whole, mark, rest = (tail + chunk).rpartition(b"<")
                strings += len(_STRING.findall(whole))
                sheets += len(_SHEET.findall(whole))
                tail = (mark + rest)[:TAG_HEAD]
        strings += len(_STRING.findall(tail))
        if member.filename.startswith(_PIECEWISE):
            piecewise += tags
        elif tags > PART_TAG_LIMIT and not member.filename.startswith("xl/media/"):
            raise UnreadableSource(f"has more than {PART_TAG_LIMIT:,} tags in {member.filename[:60]!r}")
    if strings > STRING_LIMIT:
        raise UnreadableSource(f"has more than {STRING_LIMIT:,} shared strings")
    if sheets > SHEET_LIMIT or piecewise > TAG_LIMIT:
        raise UnreadableSource(f"has more than {SHEET_LIMIT:,} sheets or {TAG_LIMIT:,} tags")


def _open_workbook(path: Path, formulas: bool, take: Callable[[Any], T]) -> T:
    """Open a workbook and return the result of `take`. If openpyxl refuses the file, only the parts with cell values
    are loaded.

    Raises UnreadableSource if the file is broken, even if that is only detected while reading cells. Raises GraderError
    if openpyxl cannot open the file although its XML is valid: the agent is not to blame.
    """
    from defusedxml.common import DefusedXmlException

    guard_archive(path)
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            # openpyxl warns about unsupported extensions.
            warnings.simplefilter("ignore")
            if not is_strict(file):
                try:
                    return _take_and_close(_load(file, formulas), take)
                except UnreadableSource:
                    raise
                except refusals():
                    file.seek(0)
            return _read_values_only(file, formulas, take)
    except UnreadableSource:
        raise
    except DefusedXmlException as error:
        raise UnreadableSource(f"holds forbidden XML: {type(error).__name__}") from error
    except refusals() as error:
        raise UnreadableSource(f"is a damaged workbook: {type(error).__name__}: {error}") from error


def _read_values_only(file: IO[bytes], formulas: bool, take: Callable[[Any], T]) -> T:
    reduced = values_only(file)
    try:
        book = _load(reduced, formulas)
    except refusals() as error:
        if not well_formed(reduced):
            raise
        why = f"{type(error).__name__}: {error}"[:400]
        raise GraderError(
            f"openpyxl cannot open this workbook, although its XML is valid ({why})",
            cause=Cause.GRADER_CRASH,
            next="let grade.py read it in another way, or look at the file by hand",
        ) from error
    return _take_and_close(book, take)


def _take_and_close(book: Any, take: Callable[[Any], T]) -> T:
    try:
        return take(book)
    finally:
        book.close()


def _load(file: IO[bytes], formulas: bool) -> Any:
    import openpyxl

    return openpyxl.load_workbook(file, read_only=True, data_only=not formulas, keep_links=False)


def refusals() -> tuple[type[Exception], ...]:
    """Return the classes of exceptions that openpyxl raises for a workbook that it cannot read."""
    from openpyxl.utils.exceptions import InvalidFileException

    return (
        InvalidFileException, LookupError, ValueError, TypeError, AttributeError, SyntaxError, EOFError,
        OSError, RuntimeError, ArithmeticError, AssertionError, zipfile.BadZipFile, zlib.error,
    )  # fmt: skip


def _cells(sheet: Any) -> Iterator[list[Any]]:
    count = 0
    for row in sheet.iter_rows(values_only=True):
        count += max(1, len(row))
        if count > CELL_LIMIT:
            raise UnreadableSource(f"has more than {CELL_LIMIT:,} cells")
        if any(isinstance(cell, float) and not math.isfinite(cell) for cell in row):
            raise UnreadableSource("holds a number that is infinite or NaN")
        if any(isinstance(cell, int) and abs(cell) >= 10**308 for cell in row):
            raise UnreadableSource("holds a number of more than 308 digits")
        yield list(row)


def read_cells(path: Path, sheet: str | int = 0, *, formulas: bool = False) -> list[list[Any]]:
    """Return all cells of a sheet, row by row. sheet: the name of the sheet, or its position from 0. Sheets that are
    charts are not counted.

    Each value is the one that was computed by the program that saved the workbook. A formula that was never computed is
    None. formulas: whether to return the text of formulas instead of values. Rules, drawings and styles that openpyxl
    refuses are left out.

    Raises UnreadableSource if the file is not a workbook, lacks the sheet, or exceeds a limit. Raises GraderError if
    openpyxl cannot open the file although its XML is valid.
    """
    return _open_workbook(path, formulas, lambda book: _sheet(book, sheet))


def _sheet(book: Any, sheet: str | int) -> list[list[Any]]:
    names = list(book.sheetnames)
    if isinstance(sheet, int):
        of_cells = [one.title for one in book.worksheets]
        if not 0 <= sheet < len(of_cells):
            raise UnreadableSource(f"has {len(of_cells)} sheets with cells, and none at position {sheet}")
        sheet = of_cells[sheet]
    if sheet not in names:
        raise UnreadableSource(f"has no sheet {sheet!r}; it has {', '.join(map(str, names))}")
    found = book[sheet]
    if not hasattr(found, "iter_rows"):
        raise UnreadableSource(f"sheet {sheet!r} is a chart")
    found.reset_dimensions()
    return list(_cells(found))


def read_sheet(path: Path, sheet: str | int = 0) -> Table:
    """Return a sheet as a table. The first row with a value is the header. Raises the errors of `read_cells` and
    `table_of`.
    """
    return table_of(read_cells(path, sheet))


def read_table(path: Path, sheet: str | int | None = None) -> Table:
    """Read a file as a table: a workbook if `sheet` is passed or the file name ends with `.xlsx` or `.xlsm`, otherwise
    CSV.

    sheet: the name or position of the sheet, by default the first. Raises UnreadableSource if the file cannot be read
    as a table.
    """
    if sheet is not None or path.suffix.lower() in (".xlsx", ".xlsm"):
        return read_sheet(path, 0 if sheet is None else sheet)
    return read_csv(path, "\t" if path.suffix.lower() == ".tsv" else None)
