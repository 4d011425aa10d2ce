"""State of a system after the work (ALE C.3.2: behavioural and world state), as a JSON value or in an SQLite file."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worksample.kit.check_score import Check
from worksample.kit.numbers import close
from worksample.kit.source import UnreadableSource, deliverable, read_bytes
from worksample.kit.table import Table

QUERY_SECONDS = 10.0
QUERY_ROWS = 200_000
COMPARED = 2_000_000
"""Maximum number of comparisons between items of two unordered lists; larger lists score 0."""
DATABASE_LIMIT = 512 << 20
"""Maximum size in bytes of a database that has a write-ahead log. Such a database is copied before a query."""


def state(got: Any, want: Any, *, tolerance: float = 0.0, ordered: bool = False) -> Check:
    """Return the share of the values in `want` that `got` has at the same place. Additional values in `got` are
    ignored.

    got, want: JSON values. tolerance: allowed difference of two numbers. ordered: whether lists are compared position
    by position. If false, each item in a list of `want` needs an equal item of its own in the list of `got`. Types are
    compared too: `"1"` does not equal 1, and true does not equal 1.
    """
    differences: list[str] = []
    right, total = _match(got, want, "", (tolerance, ordered), differences)
    reason = "; ".join(differences[:5]) + (f"; and {len(differences) - 5} more" if len(differences) > 5 else "")
    share = right / total if total else 1.0
    return Check(min(share, 1 - 1e-6) if differences else share, reason)


def _match(got: Any, want: Any, at: str, how: tuple[float, bool], out: list[str]) -> tuple[int, int]:
    """Return the number of right values and the number of all values in `want`. Each difference is appended to
    `out`.
    """
    if isinstance(want, Mapping) and want:
        if not isinstance(got, Mapping):
            out.append(f"{at or 'the value'}: {_show(got)} is not an object")
            return 0, _leaves(want)
        pairs = [(got.get(k, _ABSENT), v, f"{at}.{k}" if at else str(k)) for k, v in want.items()]
        sums = [_match(g, v, place, how, out) for g, v, place in pairs]
        return sum(r for r, _ in sums), sum(t for _, t in sums)
    if isinstance(want, list) and want:
        if not isinstance(got, list):
            out.append(f"{at or 'the value'}: {_show(got)} is not a list")
            return 0, _leaves(want)
        return _items(got, want, at, how, out)
    same = _equal(got, want, how[0])
    if not same:
        out.append(f"{at or 'the value'}: {_show(got)} instead of {_show(want)}")
    return int(same), 1


def _items(got: list[Any], want: list[Any], at: str, how: tuple[float, bool], out: list[str]) -> tuple[int, int]:
    if not how[1] and len(got) * len(want) > COMPARED:
        out.append(f"{at or 'the value'}: {len(got):,} items are too many to search for {len(want):,} expected ones")
        return 0, _leaves(want)
    right = total = 0
    free = list(got)
    for i, item in enumerate(want):
        place = f"{at}[{i}]"
        if how[1]:
            candidate = got[i] if i < len(got) else _ABSENT
        else:
            full = next((g for g in free if _covers(g, item, how)), _ABSENT)
            candidate = full
            if full is not _ABSENT:
                free.remove(full)
        if candidate is _ABSENT:
            out.append(f"{place}: {_show(item)} is missing")
            total += _leaves(item)
            continue
        r, t = _match(candidate, item, place, how, out)
        right, total = right + r, total + t
    return right, total


def _covers(got: Any, want: Any, how: tuple[float, bool]) -> bool:
    quiet: list[str] = []
    right, total = _match(got, want, "", how, quiet)
    return right == total and not quiet


def _equal(got: Any, want: Any, tolerance: float) -> bool:
    if isinstance(want, bool) or isinstance(got, bool):
        return got is want
    if isinstance(want, (int, float)):
        return isinstance(got, (int, float)) and close(got, want, tolerance)
    return type(got) is type(want) and bool(got == want)


def _leaves(value: Any) -> int:
    if isinstance(value, Mapping) and value:
        return sum(_leaves(v) for v in value.values())
    if isinstance(value, list) and value:
        return sum(_leaves(v) for v in value)
    return 1


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def _show(value: Any) -> str:
    return repr(value)[:80]


def query(path: Path, sql: str, parameters: tuple[Any, ...] = ()) -> Table:
    """Run a query on a deliverable's SQLite file and return the result as a table.

    The file is never changed. A write-ahead log beside the file is read too. The query may use `QUERY_SECONDS` of
    processor time and return `QUERY_ROWS` rows. Invalid UTF-8 becomes replacement characters. Raises DeliverableError
    if the file is not a database, if a table of the query is missing, or if the query exceeds a limit.
    """
    with deliverable(path.name):
        log = path.with_name(path.name + "-wal")
        if not log.is_file() or log.is_symlink():
            return _query(path, sql, parameters)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.db"
            copy.write_bytes(read_bytes(path, DATABASE_LIMIT))
            copy.with_name("copy.db-wal").write_bytes(read_bytes(log, DATABASE_LIMIT))
            return _query(copy, sql, parameters, immutable=False)


def _query(path: Path, sql: str, parameters: tuple[Any, ...], *, immutable: bool = True) -> Table:
    end = time.thread_time() + QUERY_SECONDS
    try:
        link = sqlite3.connect(
            f"{path.absolute().as_uri()}?{'mode=ro&immutable=1' if immutable else 'mode=rw'}", uri=True
        )
    except sqlite3.Error as error:
        raise UnreadableSource(f"is not an SQLite database: {error}") from error
    try:
        link.text_factory = lambda data: data.decode("utf-8", "replace")
        link.execute("PRAGMA trusted_schema = OFF")
        link.execute("PRAGMA query_only = ON")
        link.set_progress_handler(lambda: int(time.thread_time() > end), 10_000)
        cursor = link.execute(sql, parameters)
        names = tuple(d[0] for d in cursor.description or ())
        rows = cursor.fetchmany(QUERY_ROWS + 1)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise UnreadableSource(f"the query on the database failed: {error}") from error
    finally:
        link.close()
    if len(rows) > QUERY_ROWS:
        raise UnreadableSource(f"the query returns more than {QUERY_ROWS:,} rows")
    return Table(names, tuple(dict(zip(names, row, strict=True)) for row in rows))
