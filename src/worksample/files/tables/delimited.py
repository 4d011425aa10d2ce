"""Delimited text, such as CSV: read record by record within limits.

The separator is found from the shape of the records after quotes are read, never by counting characters.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from .numbers import readings

SEPARATORS = (";", "\t", "|", ",")
"""Separators that are tried. The comma comes last, because text and numbers often contain commas."""
SAMPLE = 1 << 18
"""Number of characters that are searched for the separator."""
RECORDS = 100
"""Number of records that are searched for the separator."""
CELL_LIMIT = 4 << 20
"""Maximum characters of one cell."""
COLUMN_LIMIT = 4_096
_SEP_LINE = re.compile(r'\ufeff?"?sep=(\\t|[^\r\n"])"?[\t ]*(?:\r\n|\r|\n|$)', re.IGNORECASE)


class TableFault(ValueError):
    """A fault of a table, with the line in its text. `next` says what to do."""

    def __init__(self, what: str, next: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next = next


class BrokenText(TableFault):
    """Text that cannot be split into records, such as one with an unclosed quote."""


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """The separator and quoting of a table."""

    separator: str = ","
    spaced: bool = False
    """True if separators and quotes have a space between them."""
    sep_line: bool = False
    """True if the first line is Excel's `sep=;`, which is not a record."""


def sniff(sample: str, *, whole: bool, separator: str = "") -> CsvDialect:
    """Return the dialect of a table that begins with `sample`. `separator` is the one that the user named, if any."""
    said = _SEP_LINE.match(sample)
    rest = sample[said.end() :] if said else sample
    if said and not separator:
        separator = "\t" if said[1] == "\\t" else said[1]
    found = separator or _separator(rest, whole=whole)
    return CsvDialect(found, _has_space_before_quotes(rest, found, whole=whole), said is not None)


def _separator(sample: str, *, whole: bool) -> str:
    """Return the separator that splits all records, the header included, into equally many cells; otherwise the one
    that splits the first line.

    The header counts because a list within one column may contain its separators as regularly as columns do.
    """
    best, most = "", (False, False, False, 0.0)
    for mark in SEPARATORS:
        widths = _widths(sample, CsvDialect(mark, _has_space_before_quotes(sample, mark, whole=whole)), whole=whole)
        width, count = Counter(widths).most_common(1)[0] if widths else (1, 0)
        share, even = count / len(widths) if widths else 0.0, count == len(widths)
        rank = (even and mark != ",", even, widths[:1] == [width], share * width)
        if width > 1 and share >= 0.5 and rank > most:
            best, most = mark, rank
    if best:
        return best
    first = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", sample.lstrip(), maxsplit=1)[0])
    return max(reversed(SEPARATORS), key=first.count)


def _has_space_before_quotes(sample: str, mark: str, *, whole: bool) -> bool:
    """Return whether quotes follow a space. They do if all records have the same number of cells only under this
    reading.
    """
    if re.search(rf'{re.escape(mark)} +"', sample) is None:
        return False
    plain, spaced = (_widths(sample, CsvDialect(mark, way), whole=whole) for way in (False, True))
    return len(set(plain)) != 1 and len(set(spaced)) == 1


def _widths(sample: str, dialect: CsvDialect, *, whole: bool) -> list[int]:
    """Return the number of cells of each of the first records in this dialect; empty if the quotes do not fit it."""
    found: list[int] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), **_reader_options(dialect)):
            if any(cell.strip() for cell in row):
                found.append(len(row))
            if len(found) > RECORDS:
                return found
    except csv.Error:
        if whole or len(found) < 2:
            return []
    return found if whole else found[:-1]


def _reader_options(dialect: CsvDialect) -> dict[str, Any]:
    return {"delimiter": dialect.separator, "skipinitialspace": dialect.spaced, "strict": True}


def is_blank(cell: Any) -> bool:
    """Return whether a cell contains nothing but spaces."""
    return cell is None or not str(cell).strip()


@dataclass(frozen=True, slots=True)
class DelimitedRow:
    line: int
    """Number of the line at which the record begins, from 1."""
    cells: list[Any]
    """Texts; cells of a workbook may have other types."""

    @property
    def blank(self) -> bool:
        return all(is_blank(cell) for cell in self.cells)


def records(lines: Iterable[str], dialect: CsvDialect) -> Iterator[DelimitedRow]:
    """Yield the records of a text, given line by line with line ends. Raises BrokenText with the line number."""
    numbered = iter(lines)
    skipped = 0
    if dialect.sep_line:
        next(numbered, "")
        skipped = 1
    first = next(numbered, "").removeprefix("\ufeff")
    csv.field_size_limit(CELL_LIMIT)
    reader = csv.reader(chain([first], numbered) if first else (), **_reader_options(dialect))
    while True:
        line = reader.line_num + 1 + skipped
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _broken_text(error, line, dialect) from error
        except UnicodeError as error:
            raise BrokenText(f"line {line}: {error}") from error
        yield DelimitedRow(line, cells)


def _broken_text(error: csv.Error, line: int, dialect: CsvDialect) -> BrokenText:
    said = str(error)
    close = 'a cell that begins with a quote ends with one, and a quote inside it is written twice ("")'
    if "unexpected end of data" in said:
        return BrokenText(f"line {line}: a quote that is opened in this row is never closed", close)
    if "field larger" in said:
        what = f"line {line}: a cell has more than {CELL_LIMIT:,} characters; is a quote in it never closed?"
        return BrokenText(what, close)
    if "expected after" in said:
        shown = {"\t": "a tab"}.get(dialect.separator, f"`{dialect.separator}`")
        return BrokenText(f"line {line}: after a closing quote comes something other than {shown} or a line end", close)
    return BrokenText(f"line {line}: {said}", close)


@dataclass(frozen=True, slots=True)
class Header:
    """Column names by position. Rows leave out positions without a name."""

    names: tuple[str, ...]
    """The name of every position, or ""."""

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name)

    def row(self, record: DelimitedRow) -> dict[str, Any]:
        """Return the cells by name; None for missing cells at the end.

        Raises TableFault, without the line number, for cells beyond the last column.
        """
        cells, names = record.cells, self.names
        last = max((n for n, name in enumerate(names, 1) if name), default=0)
        beyond = next((n for n, cell in enumerate(cells[last:], last + 1) if not is_blank(cell)), None)
        if beyond is not None:
            raise TableFault(
                f"has more cells than the header: {len(cells)}, not {last}; "
                f"{str(cells[beyond - 1]).strip()[:40]!r} stands in column {beyond}, which has no name",
                "put cells that hold the separator into quotes, or name the column",
            )
        padded = [*cells[: len(names)], *[None] * (len(names) - len(cells))]
        return {name: cell for name, cell in zip(names, padded, strict=True) if name}


def _is_title(first: list[str], second: list[Any]) -> bool:
    """Return whether the first line is a title: one cell above a wider line, or numbers above names (DATEV)."""
    if len(first) == 1:
        return len(second) > 1
    figures = len(set(first)) < len(first) and any(readings(cell).is_number for cell in first)
    return figures and len(set(second)) == len(second) and not any(readings(str(c)).is_number for c in second)


def _title_fault(first: DelimitedRow, second: DelimitedRow, name: str) -> TableFault:
    """Return the error for a first line that is narrower than the next, or that is not a header."""
    if len(first.cells) > 1:
        return TableFault(
            f"line {first.line} is a title ({name[:40]!r}), not the names of columns",
            "delete the lines above the names of the columns",
        )
    return TableFault(
        f"line {first.line} has one cell ({name[:40]!r}), and line {second.line} has {len(second.cells)}: it is a "
        "title above the names of columns, or it names the only column and the cells below it are not in quotes",
        f"delete line {first.line} if it is a title, else put every cell that holds the separator into quotes",
    )


def header_of(found: Iterator[DelimitedRow], *, titled: bool = True) -> tuple[Header, Iterator[DelimitedRow]]:
    """Return the first non-blank record as the header, and an iterator of the later non-blank records.

    titled: whether the first record may be a title, which is an error.

    In names, line ends and runs of spaces become one space, and a letter with an accent becomes one character. Raises
    TableFault if the table has no header, a duplicate name, a title or single cell above wider lines, or more than
    `COLUMN_LIMIT` columns.
    """
    rest = (record for record in found if not record.blank)
    first = next(rest, None)
    if first is None:
        raise TableFault("is empty: the first line names no columns", "write the names of the columns into it")
    names = ["" if cell is None else unicodedata.normalize("NFC", " ".join(str(cell).split())) for cell in first.cells]
    while names and not names[-1]:
        names.pop()
    if len(names) > COLUMN_LIMIT:
        raise TableFault(f"has more than {COLUMN_LIMIT:,} columns")
    second = next(rest, None)
    if (
        titled
        and second is not None
        and _is_title([n for n in names if n], [c for c in second.cells if not is_blank(c)])
    ):
        raise _title_fault(first, second, next(n for n in names if n))
    twice = next((name for name, count in Counter(n for n in names if n).items() if count > 1), None)
    if twice is not None:
        raise TableFault(f"the column {twice!r} occurs twice", "rename one of the two")
    return Header(tuple(names)), rest if second is None else chain([second], rest)
