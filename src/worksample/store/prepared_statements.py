"""Statements of the hot path: compiled once per database, then run on the driver's own connection.

SQLAlchemy's execution costs ten times what the database needs for a row by its key. What it makes of a statement is
kept; a transaction of `Database.reading` or `Database.writing` is what it runs in.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Boolean, Connection, Insert, Select
from sqlalchemy.sql.dml import UpdateBase


@dataclass(frozen=True, slots=True)
class _Compiled:
    """`order`: names by position; None where the driver takes them by name. `fixed`: values within the statement."""

    text: str
    order: tuple[str, ...] | None
    fixed: dict[str, Any]
    row: Callable[[Sequence[Any]], Any] | None

    def values(self, given: Mapping[str, Any]) -> Any:
        merged = {**self.fixed, **given}
        return merged if self.order is None else [merged[name] for name in self.order]


class Prepared:
    """`statement`: without lists (`in_`); its parameters are text, numbers and yes or no.

    Rows are named tuples. Raises the driver's own errors, which `Database` turns into StoreError.
    """

    def __init__(self, statement: Select[Any] | UpdateBase) -> None:
        self.statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def all(self, connection: Connection, values: Mapping[str, Any] = {}) -> list[Any]:
        made, cursor = self._start(connection, values)
        assert made.row is not None
        return [made.row(found) for found in cursor.fetchall()]

    def first(self, connection: Connection, values: Mapping[str, Any] = {}) -> Any:
        """None where there is none."""
        made, cursor = self._start(connection, values)
        assert made.row is not None
        found = cursor.fetchone()
        cursor.close()
        return None if found is None else made.row(found)

    def one(self, connection: Connection, values: Mapping[str, Any] = {}) -> Any:
        """LookupError where there is none."""
        found = self.first(connection, values)
        if found is None:
            raise LookupError(f"no row for {sorted(values)}")
        return found

    def run(self, connection: Connection, values: Mapping[str, Any] = {}) -> int:
        """How many rows it changed."""
        _, cursor = self._start(connection, values)
        return int(cursor.rowcount)

    def many(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Once for each."""
        made = self._compiled.get(connection.dialect.name) or self._compile(connection)
        cursor = _driver(connection).cursor()
        cursor.executemany(made.text, [made.values(row) for row in rows])
        cursor.close()

    def _start(self, connection: Connection, values: Mapping[str, Any]) -> tuple[_Compiled, Any]:
        made = self._compiled.get(connection.dialect.name) or self._compile(connection)
        return made, _driver(connection).execute(made.text, made.values(values))

    def _compile(self, connection: Connection) -> _Compiled:
        statement, dialect = self.statement, connection.dialect
        names = [column.name for column in statement.table.columns] if isinstance(statement, Insert) else None
        compiled = statement.compile(dialect=dialect, column_keys=names)
        order = getattr(compiled, "positiontup", None)
        made = _Compiled(
            str(compiled),
            tuple(order) if order is not None else None,
            {name: bound.value for name, bound in compiled.binds.items() if not bound.required and name[0] != "%"},
            _row_of(statement) if isinstance(statement, Select) else None,
        )
        self._compiled[dialect.name] = made
        return made


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def _row_of(statement: Select[Any]) -> Callable[[Sequence[Any]], Any]:
    """From what the driver gives to a named tuple. SQLite keeps yes and no as numbers."""
    columns = list(statement.selected_columns)
    kind = namedtuple("Row", [column.name for column in columns])  # type: ignore[misc]
    flags = [n for n, column in enumerate(columns) if isinstance(column.type, Boolean)]
    if not flags:
        return kind._make

    def make(found: Sequence[Any]) -> Any:
        values = list(found)
        for n in flags:
            values[n] = None if values[n] is None else bool(values[n])
        return kind._make(values)

    return make
