"""Reader and writer of the six tables as files: CSV, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worksample.errors import FaultyRows, ImportFailed, UsageError
from worksample.files.tables import cell_values as cells
from worksample.files.tables.delimited import CELL_LIMIT
from worksample.files.tables.number_columns import NumberColumns
from worksample.files.tables.numbers import format_float
from worksample.files.tables.table_reader import FaultyRow, open_table
from worksample.store.error_translation import translate_os_errors

from .tables import COLUMNS, ColumnKind, Row, Tables, complete_tables, id_of

TABLE_FORMATS = ("csv", "json", "jsonl", "parquet")
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
_QUESTION_PREFIX = "criterion_"
"""Prefix of further columns of `qualifications`, such as `criterion_6`."""


def write_tables(tables: Tables, folder: Path, format: str = "csv") -> list[Path]:
    """Write a file for each table, such as `projects.csv`, and return the files. Existing files are replaced.

    In CSV, None is an empty cell, and a list or dict is written as JSON. Times are ISO 8601; in Parquet they are
    timestamps in UTC. Raises UsageError, StoreFull.
    """
    if format not in TABLE_FORMATS:
        raise UsageError(f"unknown format {format!r} for tables", next=f"one of {', '.join(TABLE_FORMATS)}")
    out = []
    with translate_os_errors(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in complete_tables(tables).items():
            columns = columns_of(name, rows)
            path = folder / f"{name}.{format}"
            draft = path.with_name(path.name + ".part")
            _WRITERS[format](draft, columns, rows)
            draft.replace(path)
            out.append(path)
    return out


def columns_of(table: str, rows: Iterable[Row]) -> dict[str, ColumnKind]:
    """Return the columns of a table; for qualifications also those of further questions."""
    columns = dict(COLUMNS[table])
    columns |= {name: ColumnKind.JSON for row in rows for name in row if name not in columns}
    return columns


def read_tables(
    folder: Path, *, encoding: str = "", decimal: str = "", faults: dict[str, str] | None = None
) -> tuple[Tables, dict[str, tuple[str, ...]]]:
    """Read the tables in a folder, one file each; return them, and table -> unknown columns, which are ignored.

    encoding: of CSVs; "" to infer it from the first bytes, by default UTF-8. decimal: the decimal mark of all numbers;
    "" to infer it from each column. faults: receives the faults of rows, which are then left out.

    Raises ImportFailed if `projects` or a column of ids is missing, or a table has two files; FaultyRows (a subclass)
    with the faults of all rows, unless `faults` is given.
    """
    tables: Tables = {}
    unread: dict[str, tuple[str, ...]] = {}
    found: dict[str, str] = {} if faults is None else faults
    for name in COLUMNS:
        path = _file_of(folder, name)
        if path is not None:
            tables[name], unread[name] = _read_table(name, path, (encoding, decimal), found)
    if "projects" not in tables:
        raise ImportFailed(
            "there is no table `projects`", where=str(folder), next=f"projects.csv, or with {', '.join(ENDINGS[1:])}"
        )
    if found and faults is None:
        raise FaultyRows(found)
    return complete_tables(tables), {name: left for name, left in unread.items() if left}


def holds_tables(folder: Path) -> bool:
    """Return whether a folder contains the table `projects`."""
    return folder.is_dir() and any((folder / f"projects{ending}").is_file() for ending in ENDINGS)


def _file_of(folder: Path, table: str) -> Path | None:
    found = [p for ending in ENDINGS if (p := folder / f"{table}{ending}").is_file()]
    if len(found) > 1:
        names = " and ".join(p.name for p in found)
        raise ImportFailed(f"the table {table} has two files: {names}", where=str(folder), next="keep one of them")
    return found[0] if found else None


def _read_table(
    table: str, path: Path, how: tuple[str, str], faults: dict[str, str]
) -> tuple[list[Row], tuple[str, ...]]:
    rows: list[Row] = []
    seen: dict[str, int] = {}
    key = id_of(table)
    encoding, decimal = how
    with open_table(path, encoding) as opened:
        header = opened.header
        if key not in header:
            if not header and not any(True for _ in opened.rows):
                return [], ()
            raise ImportFailed(
                f"the table {table} has no column {key}", where=str(path), next=f"rename its column to {key}"
            )
        known = {h: kind for h in header if (kind := _kind(table, h)) is not None}
        numbers = {
            h: h.endswith("_amount") for h, kind in known.items() if kind in (ColumnKind.NUMBER, ColumnKind.WHOLE)
        }
        columns = NumberColumns(decimal).with_rows(numbers, opened.rows)
    with open_table(path, encoding) as opened:
        for line, row in opened.rows:
            if isinstance(row, FaultyRow):
                faults[f"{path.name}, line {line}"] = row.what
                continue
            read, wrong = _row(known, row, columns)
            id = read[key]
            if id is None and not wrong:
                wrong.append(f"{key}: is missing")
            elif id is not None and seen.setdefault(id, line) != line:
                wrong.append(f"{key}: {id[:80]!r} is already used in line {seen[id]}")
            if wrong:
                faults[f"{path.name}, line {line}"] = "; ".join(wrong)
            else:
                rows.append(read)
    return rows, tuple(h for h in header if h not in known)


def _kind(table: str, column: str) -> ColumnKind | None:
    found = COLUMNS[table].get(column)
    if found is None and table == "qualifications" and column.removeprefix(_QUESTION_PREFIX).isdecimal():
        return ColumnKind.JSON
    return found


def _row(known: dict[str, ColumnKind], row: dict[str, Any], columns: NumberColumns) -> tuple[Row, list[str]]:
    read: Row = {}
    wrong: list[str] = []
    for name, kind in known.items():
        try:
            cell = row.get(name)
            if kind in (ColumnKind.NUMBER, ColumnKind.WHOLE):
                read[name] = _number(columns, name, cell, whole=kind is ColumnKind.WHOLE)
            else:
                read[name] = _READERS[kind](cell)
        except cells.InvalidCell as e:
            read[name] = None
            wrong.append(f"{name}: {e}")
    return read, wrong


# -- cells


def _text(cell: object) -> str | None:
    """Return a cell's text unchanged, as a name may be `None` or `NA`; None for an empty cell."""
    if cell is None or cell == "" or (isinstance(cell, float) and cells.is_blank(cell)):
        return None
    if isinstance(cell, list | dict):
        raise cells.InvalidCell("is a list or a table, not a text")
    return _check_characters(str(cell))


def _check_characters(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise cells.InvalidCell("has an incomplete character (a lone surrogate)") from None
    return text


def _number(columns: NumberColumns, name: str, cell: object, *, whole: bool) -> float | int | None:
    if cells.is_blank(cell):
        return None
    return columns.read(name, cell, whole=whole)


def _flag(cell: object) -> bool | None:
    return None if cells.is_blank(cell) else cells.flag(cell)


def _moment(cell: object) -> datetime | None:
    return None if cells.is_blank(cell) else cells.moment(cell)


def _json(cell: object) -> Any:
    """Return a list or dict, parsed if it is a text. Any other text is returned unchanged."""
    if isinstance(cell, list | dict):
        return _plain(cell)
    text = _text(cell)
    if text is None or not text.strip():
        return None
    return _plain(cells.parse_json_cell(text))


def _plain(value: Any) -> Any:
    """Return a value as JSON types. Raises InvalidCell if JSON cannot express it."""
    try:
        json.dumps(value, allow_nan=False).encode()
        return json.loads(_check_characters(json.dumps(value, allow_nan=False, ensure_ascii=False)))
    except (TypeError, ValueError, RecursionError):
        raise cells.InvalidCell("has a value that JSON cannot express") from None


_READERS: dict[ColumnKind, Callable[[Any], Any]] = {
    ColumnKind.TEXT: _text, ColumnKind.FLAG: _flag, ColumnKind.MOMENT: _moment, ColumnKind.JSON: _json,
}  # fmt: skip


# -- files


def _json_value(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return format_float(value) if isinstance(value, float) else _json_value(value)


def _write_csv(path: Path, columns: dict[str, ColumnKind], rows: list[Row]) -> None:
    csv.field_size_limit(CELL_LIMIT)
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows([_csv_cell(row.get(name)) for name in columns] for row in rows)


def _write_json(path: Path, columns: dict[str, ColumnKind], rows: list[Row]) -> None:
    values = [{name: _json_value(row.get(name)) for name in columns} for row in rows]
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _write_jsonl(path: Path, columns: dict[str, ColumnKind], rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in rows:
            values = {name: _json_value(row.get(name)) for name in columns}
            file.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")


def _write_parquet(path: Path, columns: dict[str, ColumnKind], rows: list[Row]) -> None:
    import polars as pl

    types: dict[ColumnKind, Any] = {
        ColumnKind.TEXT: pl.String,
        ColumnKind.WHOLE: pl.Int64,
        ColumnKind.NUMBER: pl.Float64,
        ColumnKind.FLAG: pl.Boolean,
        ColumnKind.MOMENT: pl.Datetime("us", "UTC"),
        ColumnKind.JSON: pl.String,
    }
    values = [
        {
            name: json.dumps(v, ensure_ascii=False, allow_nan=False)
            if (v := row.get(name)) is not None and kind is ColumnKind.JSON and not isinstance(v, str)
            else v
            for name, kind in columns.items()
        }
        for row in rows
    ]
    pl.DataFrame(values, schema={name: types[kind] for name, kind in columns.items()}).write_parquet(path)


_WRITERS: dict[str, Callable[[Path, dict[str, ColumnKind], list[Row]], None]] = {
    "csv": _write_csv, "json": _write_json, "jsonl": _write_jsonl, "parquet": _write_parquet,
}  # fmt: skip
