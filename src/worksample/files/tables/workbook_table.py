"""Reader of tables in workbooks (`.xlsx`). It finds the sheet and the row of column names, and reads cells with their
formats.

`read_sheets` runs in a process with limits on time and memory, because workbooks come from anywhere.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from worksample.errors import ForeignInputError

from .cell_values import UnknownCell
from .numbers import SYMBOLS, readings, split_currency

UNPACKED_LIMIT = 512 << 20
"""Maximum size in bytes of all parts of a workbook together."""
PART_LIMIT = 10_000
CELL_LIMIT = 2_000_000
HEAD = 30
"""Number of rows in which the names of columns are searched."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_OLE = b"\xd0\xcf\x11\xe0"
_QUOTED = re.compile(r'"([^"]*)"|\[\$([^\]-]*)(?:-[0-9A-Fa-f]+)?\]|\\(.)')


class MoneyCell(float):
    """A number whose format in the spreadsheet names a currency."""

    currency = ""

    def __new__(cls, value: float, currency: str = "") -> MoneyCell:
        made = super().__new__(cls, value)
        made.currency = currency
        return made

    def __reduce__(self) -> tuple[type[MoneyCell], tuple[float, str]]:
        return MoneyCell, (float(self), self.currency)


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A sheet's rows below the names of its columns."""

    name: str
    names: list[str]
    """Names by position; "" for none."""
    line: int
    """Number of the row with the names (the lower one, if there are two), from 1."""
    rows: list[list[Any]]
    titles: tuple[str, ...] = ()
    """Texts above the names."""


@dataclass(frozen=True, slots=True)
class WorkbookSheets:
    """The sheets of a workbook that have rows below names, and what was left out."""

    tables: tuple[SheetTable, ...]
    hidden: tuple[str, ...] = ()
    """Names of hidden sheets, which are read only if they are named."""


def read_sheets(data: bytes, sheet: str = "") -> WorkbookSheets:
    """Return the visible tables of a workbook, or the table of `sheet`. Raises ForeignInputError."""
    from .workbook_values import values_only

    _check_archive(data)
    try:
        try:
            values, formulas = (_load(io.BytesIO(data), data_only=kind) for kind in (True, False))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            # Rules, colours or filters that openpyxl refuses.
            values, formulas = (_load(values_only(io.BytesIO(data)), data_only=kind) for kind in (True, False))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, SyntaxError, zipfile.BadZipFile) as e:
        raise ForeignInputError(f"is not a sound workbook: {type(e).__name__}: {str(e)[:200]}") from None
    hidden = tuple(one.title for one in values.worksheets if one.sheet_state != "visible")
    if sheet and sheet not in [one.title for one in values.worksheets]:
        names = ", ".join(repr(one.title[:60]) for one in values.worksheets)
        raise ForeignInputError(f"has no sheet {sheet[:60]!r}; it has {names}")
    stale = bool(values.calculation and values.calculation.fullCalcOnLoad)
    wanted = [one for one in values.worksheets if (one.title == sheet if sheet else one.title not in hidden)]
    found = (_table(one, formulas[one.title], stale=stale) for one in wanted)
    return WorkbookSheets(tuple(one for one in found if one is not None), hidden)


def _check_archive(data: bytes) -> None:
    if data[:4] == _OLE:
        if _ENCRYPTED in data:
            raise ForeignInputError("is protected by a password; save it without one")
        raise ForeignInputError("is a workbook of an old format (.xls); save it as .xlsx")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise ForeignInputError(f"is not a workbook: {error}") from None
    names = [part.filename for part in parts]
    if len(parts) > PART_LIMIT or sum(part.file_size for part in parts) > UNPACKED_LIMIT:
        raise ForeignInputError(f"unpacks to more than {UNPACKED_LIMIT >> 20} MiB or {PART_LIMIT:,} parts", True)
    if len(set(names)) != len(names):
        raise ForeignInputError("holds the same name twice")


def _load(file: Any, *, data_only: bool) -> Any:
    import warnings

    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # extensions that openpyxl leaves out
        return openpyxl.load_workbook(file, data_only=data_only)


def _table(values: Any, formulas: Any, *, stale: bool) -> SheetTable | None:
    """Return a sheet as a table, or None if it has no row below names."""
    if values.max_row * values.max_column > CELL_LIMIT:
        raise ForeignInputError(f"sheet {values.title[:60]!r} has more than {CELL_LIMIT:,} cells", True)
    cells = [
        [_cell(cell, formulas.cell(cell.row, cell.column), stale=stale) for cell in row] for row in values.iter_rows()
    ]
    if not any(_filled_cells(row) for row in cells):
        return None
    merged = [(r.min_row - 1, r.max_row, r.min_col - 1, r.max_col) for r in values.merged_cells.ranges]
    first = _header_row(cells)
    last = _spread(cells, merged, first)
    names = _names(cells, merged, first, last)
    titles = tuple(" ".join(str(cell).split()) for row in cells[:first] for cell in row if _is_filled(cell))
    below = cells[last + 1 :]
    return SheetTable(values.title, names, last + 1, below, titles) if any(map(_filled_cells, below)) else None


def _header_row(cells: Sequence[Sequence[Any]]) -> int:
    """Return the index of the first row that names most of the columns; otherwise of the first row with a value."""
    widths = Counter(n for row in cells[:100] if (n := len(_filled_cells(row))) > 1)
    usual = max(widths, key=lambda n: (widths[n], n)) if widths else 1
    for index, row in enumerate(cells[:HEAD]):
        told = _filled_cells(row)
        words = all(isinstance(cell, str) and not readings(cell).is_number for cell in told)
        if len(told) >= max(1, usual * 0.6) and words:
            return index
    return next(index for index, row in enumerate(cells) if _filled_cells(row))


def _spread(cells: list[list[Any]], merged: Sequence[tuple[int, int, int, int]], header: int) -> int:
    """Repeat the values of merged cells, and return the index of the last row of names.

    A text that is merged over several rows is the value of each row. A number is not, because it may be the sum of the
    rows.
    """
    last = header
    for top, bottom, left, right in merged:
        if top <= header < bottom:
            last = max(last, bottom - 1)
        elif top == header and right - left > 1:
            last = max(last, header + 1)
    if any(top == header == bottom - 1 and right - left > 1 for top, bottom, left, right in merged):
        last = max(last, header + 1)
    for top, bottom, left, right in merged:
        value = cells[top][left]
        for row in range(top, min(bottom, len(cells))):
            for column in range(left, min(right, len(cells[row]))):
                if (row, column) == (top, left) or top < header:
                    continue
                text = isinstance(value, str) and not readings(value).is_number
                if text or value is None:
                    cells[row][column] = value
                elif row > last:
                    cells[row][column] = UnknownCell("is merged with other rows; write the value into each row")
        if top > last and bottom - top > 1 and _is_filled(value) and not isinstance(value, str):
            cells[top][left] = UnknownCell("is merged with other rows; write the value into each row")
    return min(last, len(cells) - 1)


def _names(cells: list[list[Any]], merged: Sequence[tuple[int, int, int, int]], first: int, last: int) -> list[str]:
    """Return the names of columns; those of two rows are joined (`Price from`)."""
    found = []
    for column in range(len(cells[first])):
        parts = [" ".join(str(row[column]).split()) for row in cells[first : last + 1] if _is_filled(row[column])]
        found.append(" ".join(dict.fromkeys(parts)))
    return found


def _cell(cell: Any, formula: Any, *, stale: bool) -> Any:
    """Return the value of a cell. stale: whether the workbook was saved by a program that does not calculate."""
    value = cell.value
    if formula.data_type == "f" and (value is None or value == "" or (stale and value == 0)):
        return UnknownCell("is a formula without a value; open the file in a spreadsheet program and save it there")
    if cell.data_type == "e":
        return UnknownCell(f"is the error {str(value)[:20]}")
    if isinstance(value, bool) or value is None or isinstance(value, str | datetime | date | time | timedelta):
        return value
    if not isinstance(value, int | float):
        return str(value)
    currency = _currency(cell.number_format or "")
    if currency:
        return MoneyCell(value, currency)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53 else value


def _currency(form: str) -> str:
    """Return the currency in a number format, such as `#,##0.00 "€"` or `[$EUR] #,##0`."""
    for quoted, sign, escaped in _QUOTED.findall(form.split(";", maxsplit=1)[0]):
        told = (quoted or sign or escaped).strip()
        if told and (code := split_currency(f"{told} 1")[1]):
            return code
    bare = _QUOTED.sub("", form.split(";", maxsplit=1)[0])
    return next((SYMBOLS[sign] for sign in SYMBOLS if SYMBOLS[sign] and not sign.isalpha() and sign in bare), "")


def _is_filled(cell: Any) -> bool:
    return cell is not None and (not isinstance(cell, str) or bool(cell.strip()))


def _filled_cells(row: Sequence[Any]) -> list[Any]:
    return [cell for cell in row if _is_filled(cell)]


def numbered_rows(table: SheetTable) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a table that are not blank, with their numbers in the sheet."""
    for line, row in enumerate(table.rows, table.line + 1):
        if _filled_cells(row):
            yield line, row
