"""Builder of polars frames from rows of the database. The names and types of the columns are fixed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl
from sqlalchemy import BigInteger, Boolean, ColumnElement, Connection, Float, Select

TIME = pl.Datetime("us", "UTC")
_TIMES = frozenset({"at", "started", "ended"})
_ROWS = 50_000
Columns = dict[str, ColumnElement[Any]]


def _type(name: str, column: ColumnElement[Any]) -> pl.DataType:
    kind = column.type
    if name in _TIMES:
        return pl.Int64()
    if isinstance(kind, Boolean):
        return pl.Boolean()
    if isinstance(kind, BigInteger):
        return pl.Int64()
    return pl.Float64() if isinstance(kind, Float) else pl.String()


def tabulate(connection: Connection, columns: Columns, query: Select[Any], sort: Iterable[str]) -> pl.DataFrame:
    """Run `query` and return a frame. `columns` maps the names of its columns to SQL expressions, and `sort` names the
    columns to sort by. Times become datetimes in UTC.
    """
    wanted = query.with_only_columns(*(c.label(n) for n, c in columns.items()))
    found = connection.execute(wanted.execution_options(yield_per=_ROWS))
    schema = {name: _type(name, column) for name, column in columns.items()}
    # Convert rows in batches, because Python objects take ten times the memory.
    parts = [pl.DataFrame([tuple(r) for r in rows], schema=schema, orient="row") for rows in found.partitions(_ROWS)]
    frame = pl.concat(parts, rechunk=True) if parts else pl.DataFrame(schema=schema)
    times = [pl.col(n).cast(TIME) for n in columns if n in _TIMES]
    return frame.with_columns(times).sort(list(sort))


def middle(low: str, high: str, name: str) -> pl.Expr:
    """Return an expression for the midpoint of a range between two columns, as RLI C.5 defines it."""
    return ((pl.col(low) + pl.col(high)) / 2).alias(name)
