"""Converter of SQLite databases: shows the schema and the first rows of every table. It also runs one SELECT query on
request.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from . import csv_table as table
from .conversion_job import ConversionJob, Unreadable, ViewDraft

TABLES = 200
ROWS = 5_000
"""Maximum rows of a table that are stored in the view."""
SECONDS = 20.0
"""Maximum processor seconds to read a database."""


def connect(job: ConversionJob, seconds: float) -> sqlite3.Connection:
    """Open the database read-only. Queries are stopped after this many processor seconds."""
    connection = sqlite3.connect(f"{job.file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA query_only=ON")
    end = time.process_time() + seconds
    connection.set_progress_handler(lambda: int(time.process_time() > end), 10_000)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def convert(job: ConversionJob) -> ViewDraft:
    made = ViewDraft("database", meta={"chunk": table.CHUNK, "size": job.size})
    try:
        connection = connect(job, SECONDS)
        query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type <> 'table', name"
        schema = [dict(zip(("type", "name", "table", "sql"), row, strict=True)) for row in connection.execute(query)]
    except sqlite3.Error as e:
        raise Unreadable(f"the database is damaged or protected: {e}") from e
    made.files["schema"] = job.keep_json("schema.json", schema)
    shown = [s for s in schema if s["type"] in ("table", "view")][:TABLES]
    sheets, said = [], []
    for number, item in enumerate(shown):
        try:
            sheets.append(_table(job, made, connection, number, item))
        except (sqlite3.Error, OverflowError) as e:
            sheets.append({"name": item["name"], "rows": 0, "shown": 0, "columns": 0, "truncated": True})
            said.append(f"{item['name'][:60]}: {e}")
    made.meta["sheets"] = sheets
    made.problem = "; ".join(said)[:1000]
    return made


def _table(
    job: ConversionJob, made: ViewDraft, connection: sqlite3.Connection, number: int, item: dict[str, Any]
) -> dict[str, Any]:
    name = '"' + item["name"].replace('"', '""') + '"'
    cursor = connection.execute(f"SELECT * FROM {name} LIMIT {ROWS}")
    columns = [d[0] for d in cursor.description]
    meta, files = table.write_grid(job, str(number), ([to_json_value(c) for c in row] for row in cursor))
    made.files |= files
    rows = meta["shown"]
    if item["type"] == "table" and rows == ROWS:
        rows = connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
    names = [c[: table.CELL] for c in columns]
    return meta | {
        "name": item["name"],
        "type": item["type"],
        "header": names,
        "rows": rows,
        "truncated": rows > meta["shown"],
    }


def to_json_value(value: Any) -> Any:
    return f"<{len(value):,} bytes: {value[:16].hex()}>" if isinstance(value, bytes) else value


def select(job: ConversionJob, query: str, seconds: float = 5.0, rows: int = 1_000) -> dict[str, Any]:
    """Run a person's query. Return the columns, the rows, and whether there are more rows. Raises Unreadable with
    SQLite's message if the query fails.
    """
    try:
        connection = connect(job, seconds)
        cursor = connection.execute(query)
        found = cursor.fetchmany(rows + 1)
        columns = [d[0] for d in cursor.description or ()]
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as e:
        raise Unreadable(str(e)) from e
    shown = [[table.json_cell(to_json_value(c)) for c in row] for row in found[:rows]]
    return {"columns": columns, "rows": shown, "more": len(found) > rows}
