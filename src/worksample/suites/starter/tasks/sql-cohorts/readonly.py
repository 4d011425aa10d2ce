"""Runs a query that somebody else wrote: read-only, one SELECT, within limits."""

from __future__ import annotations

import re
import sqlite3
import time
from itertools import count
from pathlib import Path

from worksample.kit import DeliverableError, Table

STEPS = 20_000_000
"""Steps of SQLite's virtual machine; the same query takes the same number on every machine."""
STRIDE = 10_000
SECONDS = 12.0
"""For steps that take long by themselves."""
ROWS = 20_000
VALUE = 1 << 16
"""Bytes of one value: a single function may take time by their square, and cannot be interrupted."""
HEAP = 128 << 20
"""Bytes that SQLite may take."""
FORBIDDEN = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}
_NOISE = re.compile(r"\s+|--[^\n]*\n?|/\*.*?\*/", re.DOTALL)

_QUERY = re.compile(r"(select|with|values)\b", re.IGNORECASE)


def select(database: Path, sql: str) -> Table:
    """What the query finds. DeliverableError: no single SELECT, refused, over a limit, or an error of SQLite's."""
    end, strides = time.monotonic() + SECONDS, count(1)
    link = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        link.execute(f"PRAGMA hard_heap_limit = {HEAP}")
        link.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE)
        link.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        link.set_authorizer(_allowed)
        link.set_progress_handler(lambda: int(next(strides) > STEPS // STRIDE or time.monotonic() > end), STRIDE)
        cursor = link.execute(_statement(sql))
        if cursor.description is None:
            raise DeliverableError("is no SELECT", where="cohorts.sql")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchmany(ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError) as error:
        says = "takes too long" if str(error) == "interrupted" else f"does not run: {error}"
        raise DeliverableError(says, where="cohorts.sql") from error
    finally:
        link.close()
    if len(rows) > ROWS:
        raise DeliverableError(f"gives more than {ROWS:,} rows", where="cohorts.sql")
    if len(set(names)) != len(names):
        raise DeliverableError("gives two columns of one name", where="cohorts.sql")
    return Table(tuple(names), tuple(dict(zip(names, row, strict=True)) for row in rows))


def _statement(sql: str) -> str:
    """The text, if it begins as a query does. DeliverableError otherwise."""
    start = 0
    while match := _NOISE.match(sql, start):
        start = match.end()
    if not _QUERY.match(sql, start):
        raise DeliverableError("does not begin with SELECT or WITH", where="cohorts.sql")
    return sql


def _allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """SQLite's authoriser: reading and computing is allowed, nothing else."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in FORBIDDEN:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
