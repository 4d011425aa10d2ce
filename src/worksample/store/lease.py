"""Leases: which process works on what, until when. Leases exist only in the database and are not evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from .database import Database, Rivals
from .faults import with_patience

_NOW = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS BIGINT)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
}
"""SQL for microseconds since 1970 by the database's clock, so that machines' clocks may differ."""
_TAKE = """
    INSERT INTO leases (key, owner, generation, expires) VALUES (:key, :owner, 1, {now} + :span)
    ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expires = excluded.expires,
        generation = CASE WHEN leases.owner = excluded.owner THEN leases.generation ELSE leases.generation + 1 END
    WHERE leases.owner = excluded.owner OR leases.expires <= {now}
    RETURNING generation"""
_RENEW = "UPDATE leases SET expires = {now} + :span WHERE key = :key AND owner = :owner AND expires > {now}"
_KEEP = """
    UPDATE leases SET expires = {now} + :span WHERE key = :key AND owner = :owner AND generation = :generation"""
_HOLDER = "SELECT owner FROM leases WHERE key = :key AND expires > {now}"
_EXPIRE = "UPDATE leases SET expires = 0 WHERE key = :key AND owner = :owner"
_RELEASE = "DELETE FROM leases WHERE key = :key AND owner = :owner AND generation = 1"
_GIVE_BACK = "UPDATE leases SET owner = '', expires = 0 WHERE key = :key AND owner = :owner"


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease of a key. Commits in `Store.fence` require that its owner still has it."""

    key: str
    owner: str
    generation: int
    """1 for the first owner; rises with each takeover from an owner who had not released the key."""


class Leases:
    """The leases of a database. Each call takes one or two statements, reads no objects, and is idempotent, so that it
    is repeated if the connection breaks.

    For owners see `lease_owner.new_owner`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.patience = database.patience

    @with_patience
    def take(self, key: str, owner: str, seconds: float) -> Lease | None:
        """Lease `key` for `seconds` if it is free, expired, or already owned by `owner`; otherwise return None."""
        with self._database.writing(Rivals.ANY) as connection:
            found = self._execute(connection, _TAKE, key=key, owner=owner, span=int(seconds * 1e6))
            generation: int | None = found.scalar_one_or_none()
        return None if generation is None else Lease(key, owner, generation)

    def renew(self, key: str, owner: str, seconds: float) -> bool:
        """Extend a lease. Return False if another owner took it or if it expired."""
        return self._write(_RENEW, key=key, owner=owner, span=int(seconds * 1e6))

    def keep(self, lease: Lease, seconds: float) -> bool:
        """Extend a lease, even if it has expired. Return False if another owner took it."""
        values = {"key": lease.key, "owner": lease.owner, "generation": lease.generation}
        return self._write(_KEEP, span=int(seconds * 1e6), **values)

    @with_patience
    def holder(self, key: str) -> str | None:
        """Return the owner of a key, or None if it is free or expired."""
        with self._database.reading() as connection:
            owner: str | None = self._execute(connection, _HOLDER, key=key).scalar_one_or_none()
            return owner

    def expire(self, key: str, owner: str) -> None:
        """End the lease of an owner that no longer exists, so that the next owner can take it over."""
        self._write(_EXPIRE, key=key, owner=owner)

    @with_patience
    def release(self, key: str, owner: str) -> None:
        """Release a key; do nothing if another owner has it.

        If a key was ever taken over, its row stays, so that its generation never repeats.
        """
        with self._database.writing(Rivals.ANY) as connection:
            for statement in (_RELEASE, _GIVE_BACK):
                if self._execute(connection, statement, key=key, owner=owner).rowcount:
                    return

    @with_patience
    def _write(self, statement: str, **values: Any) -> bool:
        with self._database.writing(Rivals.ANY) as connection:
            return bool(self._execute(connection, statement, **values).rowcount)

    @staticmethod
    def _execute(connection: Connection, statement: str, **values: Any) -> Any:
        return connection.execute(text(statement.format(now=_NOW[connection.dialect.name])), values)
