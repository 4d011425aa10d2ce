"""Build polars frames with fixed column names and types from rows of the database."""

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
    """Run `query` and return the `columns` (name -> expression), sorted by the columns `sort`. Times become UTC
    datetimes.
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
    """Return the midpoint of a range (RLI C.5)."""
    return ((pl.col(low) + pl.col(high)) / 2).alias(name)
