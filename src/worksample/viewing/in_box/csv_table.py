"""CSV and similar tables: read as a stream and stored in chunks of rows that the grid loads as needed."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from worksample.files.tables.delimited import CsvDialect, sniff

from .conversion_job import ConversionJob, Unreadable, ViewDraft
from .text_encoding import encoding

CHUNK = 500
"""Maximum rows of a table in one artefact."""
ROWS = 100_000
"""Maximum rows of a table that are shown."""
COLUMNS = 500
EXACT = 2**53
"""Largest integer that browsers represent exactly. Larger integers are stored as text."""
CELL = 2_000
"""Maximum characters of a cell that are shown."""
CHARACTERS = 40 << 20
"""Maximum characters of all shown cells of a table together."""


def convert(job: ConversionJob) -> ViewDraft:
    sample = job.head(1 << 18)
    name = encoding(sample, whole=job.size <= len(sample))
    if name is None:
        raise Unreadable("only the beginning of the file is text")
    text = sample.decode(name, "replace")
    dialect = _dialect(text, job.extension, whole=job.size <= len(sample))
    with job.file.open(encoding=name, errors="replace", newline="") as f:
        sheet, files = write_grid(job, "0", _rows(f, dialect))
    meta = {"encoding": name, "delimiter": dialect.separator, "size": job.size, "header": _header(text, dialect)}
    made = ViewDraft("table", files, meta | {"sheets": [sheet | {"name": job.name}], "chunk": CHUNK})
    made.problem = describe_cut(sheet)
    return made


def describe_cut(sheet: dict[str, Any]) -> str:
    """Return a text that says which part of a sheet is not shown, or "" if the whole sheet is shown."""
    said = []
    if sheet["rows"] > sheet["shown"]:
        said.append(f"{sheet['shown']:,} rows")
    if sheet["columns"] > COLUMNS:
        said.append(f"{COLUMNS:,} of {sheet['columns']:,} columns")
    return f"only the first {' and '.join(said)} are shown" if said else ""


def _dialect(text: str, extension: str, *, whole: bool) -> CsvDialect:
    """Return the CSV dialect of a text, detected by the rules of all table readers of the platform. A malformed file is
    shown up to its fault.
    """
    return sniff(text, whole=whole, separator="\t" if extension == "tsv" else "")


def _reader(f: Iterable[str], dialect: CsvDialect) -> Any:
    lines = iter(f)
    if dialect.sep_line:
        next(lines, "")
    return csv.reader(lines, delimiter=dialect.separator, skipinitialspace=dialect.spaced)


def _header(text: str, dialect: CsvDialect) -> bool:
    """Return whether the first row looks like column names: it contains no number, and rows below it do."""
    try:
        rows = list(itertools.islice(_reader(io.StringIO(text, newline=""), dialect), 20))
    except csv.Error:
        return False
    return len(rows) > 1 and not any(map(_number, rows[0])) and any(_number(c) for row in rows[1:] for c in row)


def _number(text: str) -> bool:
    return text.strip().lstrip("-+$€£").replace(".", "").replace(",", "").rstrip("%").isdigit()


def _rows(f: IO[str], dialect: CsvDialect) -> Iterator[list[str]]:
    csv.field_size_limit(1 << 20)
    reader = _reader(f, dialect)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as e:
            yield [f"line {reader.line_num} cannot be read: {e}"]


def write_grid(job: ConversionJob, name: str, rows: Iterable[Sequence[Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Write rows as the artefacts `<name>/0`, `<name>/1`... Return the metadata of the sheet and the files.

    The metadata contains rows (the number of all rows if counting is cheap, otherwise of the rows read), shown, columns
    and truncated.
    """
    files: dict[str, str] = {}
    chunk: list[list[Any]] = []
    seen = shown = columns = used = 0
    for row in rows:
        seen += 1
        columns = max(columns, len(row))
        if shown >= ROWS or used > CHARACTERS:
            continue
        cells = [json_cell(c) for c in row[:COLUMNS]]
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
    """Return the digits of an integer, or a text with its number of bits if it is very long."""
    return str(value) if value.bit_length() < 10_000 else f"<an integer of {value.bit_length():,} bits>"


def json_cell(value: Any) -> Any:
    """Convert a cell to JSON without loss in a browser: numbers that it cannot represent become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= EXACT:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    text = decimal(value) if isinstance(value, int) else str(value)
    return text if len(text) <= CELL else text[:CELL] + "…"
