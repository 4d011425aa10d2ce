"""Rows of a table that somebody else made: CSV in any usual encoding, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from worksample.errors import ImportFailed, UsageError

from .projects import AGAIN, read_projects

NAMES = "write the names of the columns into the first line (docs/jobs.md)"

CELL_LIMIT = 4 << 20
"""Characters of one cell of a CSV."""
JSON_LIMIT = 1 << 30
"""Bytes of a JSON file, which is read in whole; the other forms are read row by row."""
LOOKED_AT = 10_000
"""Records whose keys make the header."""
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table that was opened: `rows` reads on with each step, numbered as a person would (the header is line 1)."""

    header: tuple[str, ...]
    rows: Iterator[tuple[int, dict[str, Any]]]


@contextmanager
def open_table(path: Path, encoding: str = "") -> Iterator[Table]:
    """By its ending: .csv, .tsv, .json, .jsonl, .parquet; a folder holds a project in each of its own.

    `encoding`: of a CSV; where it is "", by its first bytes, else UTF-8. Raises UsageError, ImportFailed.
    """
    if path.is_dir():
        yield _records(path, enumerate(read_projects(path), 1))
        return
    if not path.is_file():
        raise UsageError("there is no such file", where=str(path), next=f"ls {shlex.quote(str(path.parent))}")
    form = path.suffix.lower()
    if form in (".csv", ".tsv", ".txt"):
        with path.open(encoding=encoding or _encoding(path), newline="") as file:
            yield _csv(file, path)
    elif form in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8-sig") as file:
            yield _records(path, _lines(file, path))
    elif form == ".json":
        yield _records(path, enumerate(_whole(path), 1))
    elif form == ".parquet":
        yield _records(path, _parquet(path))
    else:
        raise UsageError(f"{form or 'a file without an ending'} is not read", where=str(path),
                         next="save it as .csv, .json, .jsonl or .parquet")  # fmt: skip


def _encoding(path: Path) -> str:
    """By the first bytes, else UTF-8; never guessed: two code pages differ in few letters, and nobody would see it."""
    with path.open("rb") as file:
        head = file.read(1 << 20)
        for mark, name in _MARKS.items():
            if head.startswith(mark):
                return name
        try:
            while head:
                # A character may be cut by the end of a piece, never by a line's end.
                (head + file.readline()).decode("utf-8")
                head = file.read(1 << 20)
        except UnicodeDecodeError:
            raise ImportFailed(
                "not UTF-8", where=str(path),
                next="name its encoding, such as --encoding cp1252 for a table that Excel saved in Western Europe",
            ) from None  # fmt: skip
    return "utf-8"


def _csv(file: TextIO, path: Path) -> Table:
    try:
        head = file.read(64 << 10)
        file.seek(0)
        first = head.partition("\n")[0]
        mark = max(",;\t|", key=first.count) if path.suffix.lower() != ".tsv" else "\t"
        csv.field_size_limit(CELL_LIMIT)
        reader = csv.reader(file, delimiter=mark, strict=True)
        header = tuple(h.strip() for h in next(reader, ()))
    except (csv.Error, UnicodeError) as e:
        raise ImportFailed(f"not a CSV: {e}", where=str(path), next=AGAIN) from e
    _sound_header(header, path)
    return Table(header, _csv_rows(reader, header, path))


def _csv_rows(reader: Any, header: tuple[str, ...], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except (csv.Error, UnicodeError) as e:
            raise ImportFailed(f"line {line}: {e}", where=str(path), next=AGAIN) from e
        if not any(c.strip() for c in row):
            continue
        if len(row) > len(header):
            raise ImportFailed(
                f"line {line} has {len(row)} cells; the header names {len(header)}", where=str(path),
                next="put cells that hold the separator into quotes, then run the same command again",
            )  # fmt: skip
        yield line, dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=True))


def _sound_header(header: tuple[str, ...], path: Path) -> None:
    twice = next((h for h in header if header.count(h) > 1), None)
    if not any(header):
        raise ImportFailed("the first line names no columns", where=str(path), next=NAMES)
    if twice is not None:
        raise ImportFailed(f"the column {twice!r} is there twice", where=str(path), next="rename one of the two")


def _lines(file: TextIO, path: Path) -> Iterator[tuple[int, Any]]:
    try:
        for n, line in enumerate(file, 1):
            if line.strip():
                yield n, json.loads(line)
    except (ValueError, RecursionError) as e:
        at = n + 1 if isinstance(e, UnicodeError) else n
        raise ImportFailed(f"line {at}: {e}", where=str(path), next=AGAIN) from e


def _whole(path: Path) -> list[Any]:
    if path.stat().st_size > JSON_LIMIT:
        raise ImportFailed(f"more than {JSON_LIMIT >> 20} MiB", where=str(path), next="save it as .jsonl or .parquet")
    try:
        found = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as e:
        raise ImportFailed(f"not JSON: {e}", where=str(path), next=AGAIN) from e
    if isinstance(found, dict):
        lists = [v for v in found.values() if isinstance(v, list)]
        found = lists[0] if len(lists) == 1 else [found]
    if not isinstance(found, list):
        raise ImportFailed(
            "does not hold a list of jobs", where=str(path), next="write [ {...}, {...} ], one object per job"
        )
    return found


def _parquet(path: Path) -> Iterator[tuple[int, Any]]:
    import polars as pl

    try:
        frames = pl.scan_parquet(path).collect_batches(chunk_size=10_000)
        n = 0
        for frame in frames:
            for row in frame.iter_rows(named=True):
                n += 1
                yield n, row
    except pl.exceptions.PolarsError as e:
        raise ImportFailed(f"not Parquet: {str(e).splitlines()[0]}", where=str(path), next=AGAIN) from e


def _records(path: Path, found: Iterator[tuple[int, Any]]) -> Table:
    """The header is what the first records say together; a record may leave out any of it."""
    first = [_table(n, row, path) for n, row in islice(found, LOOKED_AT)]
    header = tuple(dict.fromkeys(str(key) for _, row in first for key in row))
    return Table(header, chain(first, (_table(n, row, path) for n, row in found)))


def _table(n: int, row: Any, path: Path) -> tuple[int, dict[str, Any]]:
    if not isinstance(row, dict):
        raise ImportFailed(f"record {n} is not an object", where=str(path), next="write one object per job")
    return n, row
