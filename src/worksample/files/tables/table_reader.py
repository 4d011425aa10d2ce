"""Rows of people's tables: CSV in any usual encoding, JSON, JSON Lines, Parquet, or a sheet of a workbook."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, cast

from worksample.errors import ForeignInputError, ImportFailed, UsageError
from worksample.files.json_duplicate_keys import DuplicateKeyError, unique_object

from .delimited import SAMPLE, DelimitedRow, Header, TableFault, header_of, records, sniff
from .encodings import is_text_encoding, marked_encoding
from .workbook_table import WorkbookSheets, numbered_rows

JSON_LIMIT = 1 << 30
"""Maximum bytes of a JSON file, which is read as a whole; other formats are read row by row."""
INTEGER_DIGITS = 308
"""Maximum digits of a whole number in JSON; a longer number is infinite as a float."""
WORKBOOKS = (".xlsx", ".xlsm")
WORKBOOK_LIMIT = 64 << 20
"""Maximum bytes of a workbook."""
WORKBOOK_SECONDS = 120
"""Maximum processor time for a workbook."""
AGAIN = "correct the file, then run the same command again"
LOOKED_AT = 10_000
"""Number of records whose keys make up the header."""


class FaultyRow(dict[str, Any]):
    """A row that cannot be read. The other rows are still read."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """An open table. Iterating over `rows` reads on; lines are numbered from the header as line 1. A row that cannot be
    read is a `FaultyRow`.
    """

    header: tuple[str, ...]
    rows: Iterator[tuple[int, dict[str, Any]]]
    nameless: tuple[str, ...] = ()
    """Columns with values but without a name, such as `column 1`. They are not read."""
    notes: tuple[str, ...] = ()
    """What else was left out: titles above the names, hidden sheets."""


@contextmanager
def open_table(path: Path, encoding: str = "", sheet: str = "") -> Iterator[OpenedTable]:
    """Open a table; its suffix gives the format: .csv, .tsv, .json, .jsonl, .parquet, .xlsx.

    sheet: the name of a workbook's sheet; "" for the only visible sheet with a table.

    `encoding` is for CSV; if it is "", the first bytes decide, and otherwise UTF-8 is used. Raises UsageError,
    ImportFailed.
    """
    check_encoding(encoding)
    if not path.is_file():
        raise UsageError("there is no such file", where=str(path), next=f"ls {shlex.quote(str(path.parent))}")
    form = path.suffix.lower()
    if sheet and form not in WORKBOOKS:
        raise UsageError("only workbooks have sheets", where="--sheet", next="leave out --sheet")
    if form in (".csv", ".tsv", ".txt"):
        with path.open(encoding=encoding or _encoding(path), newline="") as file:
            yield _open_csv(file, path)
    elif form in (".jsonl", ".ndjson"):
        with path.open(encoding=_marked_encoding_of(path) or "utf-8") as file:
            yield table_of_records(_read_json_lines(file, path))
    elif form == ".json":
        yield table_of_records(enumerate(_read_json_rows(path), 1))
    elif form == ".parquet":
        yield table_of_records(_read_parquet(path))
    elif form in WORKBOOKS:
        yield _open_workbook(path, sheet)
    else:
        raise UsageError(f"{form or 'a file without an ending'} cannot be read as a table", where=str(path),
                         next="save it as .csv, .xlsx, .json, .jsonl or .parquet")  # fmt: skip


def check_encoding(name: str) -> None:
    """Raise UsageError if no text encoding has this name; "" is accepted."""
    if name and not is_text_encoding(name):
        raise UsageError(f"there is no encoding {name!r}", next="such as cp1252, latin-1, cp1251, shift_jis")


def read_json(text: str) -> Any:
    """Read JSON with whole numbers of any length; those beyond the range of floats become infinite.

    Raises ValueError, also for a duplicate key.
    """
    return json.loads(text, parse_int=_integer, object_pairs_hook=unique_object)


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= INTEGER_DIGITS else float("-inf" if text[0] == "-" else "inf")


def _marked_encoding_of(path: Path) -> str:
    """Return the encoding that the first bytes of a file prove, or ""."""
    with path.open("rb") as file:
        return marked_encoding(file.read(1 << 12))


def _encoding(path: Path) -> str:
    """Return the encoding that the first bytes prove, otherwise UTF-8.

    The encoding is never guessed: code pages differ in few letters, and nobody would notice the error.
    """
    if marked := _marked_encoding_of(path):
        return marked
    with path.open("rb") as file:
        head = file.read(1 << 20)
        # A text may have a stray NUL, which UTF-8 allows; in a binary file every few bytes are 0.
        if head.count(0) * 20 > len(head):
            raise ImportFailed(
                "the file is not text: it holds NUL bytes", where=str(path), next=f"save it as CSV; {AGAIN}"
            )
        try:
            while head:
                # The end of a piece may split a character; the end of a line never does.
                (head + file.readline()).decode("utf-8")
                head = file.read(1 << 20)
        except UnicodeDecodeError:
            raise ImportFailed(
                "the text is not UTF-8", where=str(path),
                next="name its encoding, such as --encoding cp1252 for a table that Excel saved in Western Europe",
            ) from None  # fmt: skip
    return "utf-8"


def _open_csv(file: TextIO, path: Path) -> OpenedTable:
    try:
        sample = file.read(SAMPLE)
        whole = len(sample) < SAMPLE
        dialect = sniff(sample, whole=whole, separator="\t" if path.suffix.lower() == ".tsv" else "")
        file.seek(0)
        header, below = header_of(records(file, dialect))
        first = next(below, None)
    except TableFault as fault:
        raise _table_error(fault, path) from fault
    except UnicodeError as e:
        raise ImportFailed(f"the file is not valid CSV: {e}", where=str(path), next=AGAIN) from e
    named = [bool(name) for name in header.names]
    seen = first.cells if first else []
    nameless = tuple(f"column {n + 1}" for n, cell in enumerate(seen[: len(named)]) if cell.strip() and not named[n])
    rows = below if first is None else chain([first], below)
    return OpenedTable(header.column_names, _csv_rows(rows, header, path), nameless)


def _open_workbook(path: Path, sheet: str) -> OpenedTable:
    found = _sheets_of(path, sheet)
    names = ", ".join(repr(table.name) for table in found.tables)
    if len(found.tables) > 1:
        raise UsageError(f"has {len(found.tables)} sheets with rows: {names}", where=str(path),
                         next=f"name one: --sheet {shlex.quote(found.tables[0].name)}")  # fmt: skip
    hidden = f"; its hidden sheets are {', '.join(map(repr, found.hidden))}" if found.hidden else ""
    if not found.tables:
        raise ImportFailed(f"has no sheet with rows below names of columns{hidden}", where=str(path), next=AGAIN)
    [table] = found.tables
    rows = (DelimitedRow(line, row) for line, row in numbered_rows(table))
    try:
        header, below = header_of(chain([DelimitedRow(table.line, list(table.names))], rows), titled=False)
    except TableFault as fault:
        raise _table_error(fault, path) from fault
    notes = [f"left out above the names of columns: {' / '.join(table.titles)[:200]}"] if table.titles else []
    notes += [f"hidden sheets are not read: {', '.join(found.hidden)}"] if found.hidden and not sheet else []
    return OpenedTable(header.column_names, _csv_rows(below, header, path), notes=tuple(notes))


def _sheets_of(path: Path, sheet: str) -> WorkbookSheets:
    """Read a workbook in a process with limits."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from worksample.files.untrusted import WorkerPool

    if path.stat().st_size > WORKBOOK_LIMIT:
        raise ImportFailed(f"more than {WORKBOOK_LIMIT >> 20} MiB", where=str(path), next="save it as .csv")
    pool = WorkerPool(most=1, seconds=WORKBOOK_SECONDS)
    function = f"{__package__}.workbook_table:read_sheets"
    try:
        with ThreadPoolExecutor(1) as thread:  # the caller may have an event loop of its own
            told = thread.submit(lambda: asyncio.run(pool.run(function, path.read_bytes(), sheet)))
            return cast("WorkbookSheets", told.result())
    except ForeignInputError as fault:
        raise ImportFailed(fault.what, where=str(path), next=AGAIN) from fault
    finally:
        pool.close()


def _csv_rows(rows: Iterator[DelimitedRow], header: Header, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    while True:
        try:
            record = next(rows, None)
        except TableFault as fault:
            raise _table_error(fault, path) from fault
        if record is None:
            return
        try:
            yield record.line, header.row(record)
        except TableFault as fault:
            yield record.line, FaultyRow(f"{fault.what}; {fault.next}")


def _table_error(fault: TableFault, path: Path) -> ImportFailed:
    step = f"{AGAIN}: {fault.next}" if fault.next else AGAIN
    return ImportFailed(fault.what, where=str(path), next=step)


def _read_json_lines(file: TextIO, path: Path) -> Iterator[tuple[int, Any]]:
    n = 0
    try:
        for n, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield n, read_json(line)
            except DuplicateKeyError as e:
                yield n, FaultyRow(f"{e}; {e.next}")
            except (ValueError, RecursionError) as e:
                yield n, FaultyRow(f"is not JSON: {e}")
    except UnicodeError as e:
        raise ImportFailed(f"line {n + 1}: {e}", where=str(path), next=AGAIN) from e


def _read_json_rows(path: Path) -> list[Any]:
    if path.stat().st_size > JSON_LIMIT:
        raise ImportFailed(
            f"the JSON file is larger than {JSON_LIMIT >> 20} MiB",
            where=str(path),
            next="save it as .jsonl or .parquet",
        )
    try:
        data = path.read_bytes()
        found = read_json(data.decode(marked_encoding(data[: 1 << 12]) or "utf-8"))
    except DuplicateKeyError as e:
        raise ImportFailed(str(e), where=str(path), next=f"{e.next}, then run the same command again") from e
    except (ValueError, RecursionError) as e:
        raise ImportFailed(f"the file is not valid JSON: {e}", where=str(path), next=AGAIN) from e
    if isinstance(found, dict):
        lists = [v for v in found.values() if isinstance(v, list)]
        found = lists[0] if len(lists) == 1 else [found]
    if not isinstance(found, list):
        raise ImportFailed(
            "the file does not hold a list of jobs", where=str(path), next="write [ {...}, {...} ], one object per job"
        )
    return found


def _read_parquet(path: Path) -> Iterator[tuple[int, Any]]:
    import polars as pl

    try:
        frames = pl.scan_parquet(path).collect_batches(chunk_size=10_000)
        n = 0
        for frame in frames:
            for row in frame.iter_rows(named=True):
                n += 1
                yield n, row
    except pl.exceptions.PolarsError as e:
        raise ImportFailed(
            f"the file is not valid Parquet: {str(e).splitlines()[0]}", where=str(path), next=AGAIN
        ) from e


def table_of_records(found: Iterator[tuple[int, Any]]) -> OpenedTable:
    """Return records as a table. The keys of the first records make up the header; a record may lack any of them."""
    first = [_record_row(n, row) for n, row in islice(found, LOOKED_AT)]
    header = tuple(dict.fromkeys(str(key) for _, row in first for key in row))
    return OpenedTable(header, chain(first, (_record_row(n, row) for n, row in found)))


def _record_row(n: int, row: Any) -> tuple[int, dict[str, Any]]:
    if not isinstance(row, dict):
        return n, FaultyRow("is not an object; write one object per row")
    return n, row
