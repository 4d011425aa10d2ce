"""Prepared statements for frequent queries. They are compiled once per database and run directly on the driver's
connection.

Running a query through SQLAlchemy takes ten times as long as the database needs to find a row by its key. Prepared
statements run in the transactions of `Database.reading` and `Database.writing`.
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
    """Compiled statement. `order` has the parameters' names by position, or None if the driver accepts names. `fixed`
    has the constant parameters of the statement.
    """

    text: str
    order: tuple[str, ...] | None
    fixed: dict[str, Any]
    row: Callable[[Sequence[Any]], Any] | None

    def values(self, given: Mapping[str, Any]) -> Any:
        merged = {**self.fixed, **given}
        return merged if self.order is None else [merged[name] for name in self.order]


class Prepared:
    """Prepared statement. Its parameters are texts, numbers and booleans; lists (`in_`) are not supported.

    Rows are named tuples. The driver's own errors are raised, and `Database` translates them to StoreError.
    """

    def __init__(self, statement: Select[Any] | UpdateBase) -> None:
        self.statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def all(self, connection: Connection, values: Mapping[str, Any] = {}) -> list[Any]:
        made, cursor = self._start(connection, values)
        assert made.row is not None
        return [made.row(found) for found in cursor.fetchall()]

    def fetch_first(self, connection: Connection, values: Mapping[str, Any] = {}) -> Any:
        """Run the statement and return the first row, or None if the result is empty."""
        made, cursor = self._start(connection, values)
        assert made.row is not None
        found = cursor.fetchone()
        cursor.close()
        return None if found is None else made.row(found)

    def fetch_one(self, connection: Connection, values: Mapping[str, Any] = {}) -> Any:
        """Run the statement and return the only row. Raises LookupError if the result is empty."""
        found = self.fetch_first(connection, values)
        if found is None:
            raise LookupError(f"the database has no row for the values {sorted(values)}")
        return found

    def run(self, connection: Connection, values: Mapping[str, Any] = {}) -> int:
        """Run the statement, and return the number of rows that it changed."""
        _, cursor = self._start(connection, values)
        return int(cursor.rowcount)

    def many(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the statement once for each set of parameters in `rows`."""
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
    """Return a function that converts a row of the driver to a named tuple. SQLite stores booleans as numbers, and the
    function converts them back.
    """
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
