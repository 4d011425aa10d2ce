"""CSV and its relatives: read as a stream, kept in chunks of rows that the grid loads one by one."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from .job import Job, Made, Unreadable
from .words import encoding

CHUNK = 500
"""Rows in one artefact."""
ROWS = 100_000
"""Rows that are shown."""
COLUMNS = 500
DELIMITERS = ",;\t|"
"""The first of those that fit a file equally well is taken."""
EXACT = 2**53
"""Browsers read numbers as floating-point ones: integers beyond this are kept as text, digit by digit."""
CELL = 2_000
"""Characters of one cell that are shown."""
CHARACTERS = 40 << 20
"""Of all shown cells of one table together."""


def convert(job: Job) -> Made:
    sample = job.head(1 << 18)
    name = encoding(sample, whole=job.size <= len(sample))
    if name is None:
        raise Unreadable("its beginning is text, the rest is not")
    text = sample.decode(name, "replace")
    dialect = _dialect(text, job.extension)
    with job.file.open(encoding=name, errors="replace", newline="") as f:
        sheet, files = grid(job, "0", _rows(f, dialect))
    meta = {"encoding": name, "delimiter": dialect.delimiter, "size": job.size, "header": _header(text, dialect)}
    made = Made("table", files, meta | {"sheets": [sheet | {"name": job.name}], "chunk": CHUNK})
    made.problem = cut(sheet)
    return made


def cut(sheet: dict[str, Any]) -> str:
    """What of a sheet is not shown, in words; nothing where all of it is."""
    said = []
    if sheet["rows"] > sheet["shown"]:
        said.append(f"{sheet['shown']:,} rows")
    if sheet["columns"] > COLUMNS:
        said.append(f"{COLUMNS:,} of {sheet['columns']:,} columns")
    return f"only the first {' and '.join(said)} are shown" if said else ""


def _dialect(text: str, extension: str) -> Any:
    whole = text[: text.rfind("\n") + 1] or text
    if extension == "tsv":
        return csv.excel_tab
    # A quote that is doubled stands for itself, wherever in the file the first one comes: as RFC 4180 has it.
    return max((_dialect_of(delimiter) for delimiter in DELIMITERS), key=lambda dialect: _fit(whole, dialect))


def _dialect_of(delimited_by: str) -> type[csv.excel]:
    class Delimited(csv.excel):
        delimiter = delimited_by

    return Delimited


def _fit(text: str, dialect: Any) -> tuple[float, int]:
    """How many of the first rows have the commonest number of columns, and how many columns that is."""
    try:
        rows = [len(row) for row in itertools.islice(csv.reader(io.StringIO(text, newline=""), dialect), 50) if row]
    except csv.Error:
        return 0.0, 0
    columns, found = Counter(rows).most_common(1)[0] if rows else (0, 0)
    return (found / len(rows), columns) if columns > 1 else (0.0, columns)


def _header(text: str, dialect: Any) -> bool:
    """Whether the first row looks like names: no number in it, and some below it."""
    try:
        rows = list(itertools.islice(csv.reader(io.StringIO(text, newline=""), dialect), 20))
    except csv.Error:
        return False
    return len(rows) > 1 and not any(map(_number, rows[0])) and any(_number(c) for row in rows[1:] for c in row)


def _number(text: str) -> bool:
    return text.strip().lstrip("-+$€£").replace(".", "").replace(",", "").rstrip("%").isdigit()


def _rows(f: IO[str], dialect: Any) -> Iterator[list[str]]:
    csv.field_size_limit(1 << 20)
    reader = csv.reader(f, dialect)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as e:
            yield [f"line {reader.line_num} cannot be read: {e}"]


def grid(job: Job, name: str, rows: Iterable[Sequence[Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Keep rows as artefacts `<name>/0`, `<name>/1`...; returns what a sheet's meta has, and the files.

    meta: rows (counted to the end where that is cheap, else those seen), shown, columns, truncated.
    """
    files: dict[str, str] = {}
    chunk: list[list[Any]] = []
    seen = shown = columns = used = 0
    for row in rows:
        seen += 1
        columns = max(columns, len(row))
        if shown >= ROWS or used > CHARACTERS:
            continue
        cells = [short(c) for c in row[:COLUMNS]]
        used += sum(len(c) if isinstance(c, str) else 8 for c in cells)
        chunk.append(cells)
        shown += 1
        if len(chunk) == CHUNK:
            key = f"{name}/{len(files)}"
            files[key], chunk = job.keep_json(f"grid/{key}.json", chunk), []
    if chunk:
        key = f"{name}/{len(files)}"
        files[key] = job.keep_json(f"grid/{key}.json", chunk)
    truncated = seen > shown or columns > COLUMNS
    return {"rows": seen, "shown": shown, "columns": columns, "truncated": truncated}, files


def decimal(value: int) -> str:
    """Its digits, or how many bits it has where they would take long to write."""
    return str(value) if value.bit_length() < 10_000 else f"<an integer of {value.bit_length():,} bits>"


def short(value: Any) -> Any:
    """A cell as JSON that a browser reads without loss: numbers that it cannot hold are text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= EXACT:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    text = decimal(value) if isinstance(value, int) else str(value)
    return text if len(text) <= CELL else text[:CELL] + "…"
