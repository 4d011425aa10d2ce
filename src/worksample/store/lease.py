"""Leases: who works on what, until when. In the database only, and never evidence."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from .database import Database, Rivals

_NOW = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS BIGINT)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
}
"""Microseconds since 1970 by the database's clock: machines that share it need not agree on the time."""
_TAKE = """
    INSERT INTO leases (key, owner, expires) VALUES (:key, :owner, {now} + :span)
    ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expires = excluded.expires
    WHERE leases.owner = excluded.owner OR leases.expires <= {now}"""
_RENEW = "UPDATE leases SET expires = {now} + :span WHERE key = :key AND owner = :owner AND expires > {now}"
_HOLDER = "SELECT owner FROM leases WHERE key = :key AND expires > {now}"
_RELEASE = "DELETE FROM leases WHERE key = :key AND owner = :owner"


class Leases:
    """Each call is one statement, which waits for nobody's commit. Owners: see `owner.new_owner`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, key: str, owner: str, seconds: float) -> bool:
        """True where `key` was free, expired, or the owner's own already; it is then `owner`'s for `seconds`."""
        return self._write(_TAKE, key=key, owner=owner, span=int(seconds * 1e6))

    def renew(self, key: str, owner: str, seconds: float) -> bool:
        """True where `owner` still held it; False once another took it or it ran out."""
        return self._write(_RENEW, key=key, owner=owner, span=int(seconds * 1e6))

    def holder(self, key: str) -> str | None:
        """Whose it is now; None where it is free or expired."""
        with self._database.reading() as connection:
            owner: str | None = self._execute(connection, _HOLDER, key=key).scalar_one_or_none()
            return owner

    def release(self, key: str, owner: str) -> None:
        """Give it back; nothing happens where it is another's."""
        self._write(_RELEASE, key=key, owner=owner)

    def _write(self, statement: str, **values: Any) -> bool:
        with self._database.writing(Rivals.ANY) as connection:
            return bool(self._execute(connection, statement, **values).rowcount)

    @staticmethod
    def _execute(connection: Connection, statement: str, **values: Any) -> Any:
        return connection.execute(text(statement.format(now=_NOW[connection.dialect.name])), values)
