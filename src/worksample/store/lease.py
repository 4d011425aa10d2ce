"""Leases: who works on what, until when. In the database only, and never evidence."""

from __future__ import annotations

import time

from sqlalchemy import delete, select, update

from .database import Database
from .schema import leases


class Leases:
    """Clocks of the machines that share a database should agree to within a second."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, key: str, owner: str, seconds: float) -> bool:
        """True where `key` was free, expired, or the owner's own already; it is then `owner`'s for `seconds`."""
        now = time.time_ns() // 1000
        with self._database.writing() as connection:
            held = connection.execute(select(leases.c.owner, leases.c.expires).where(leases.c.key == key)).first()
            if held is not None and held.owner != owner and held.expires > now:
                return False
            connection.execute(delete(leases).where(leases.c.key == key))
            values = {"key": key, "owner": owner, "expires": now + int(seconds * 1e6)}
            connection.execute(leases.insert().values(values))
        return True

    def renew(self, key: str, owner: str, seconds: float) -> bool:
        """True where `owner` still held it; False once another took it or it ran out."""
        now = time.time_ns() // 1000
        mine = (leases.c.key == key) & (leases.c.owner == owner) & (leases.c.expires > now)
        with self._database.writing() as connection:
            done = connection.execute(update(leases).where(mine).values(expires=now + int(seconds * 1e6)))
            return bool(done.rowcount)

    def holder(self, key: str) -> str | None:
        """Whose it is now; None where it is free or expired."""
        now = time.time_ns() // 1000
        with self._database.reading() as connection:
            query = select(leases.c.owner).where(leases.c.key == key, leases.c.expires > now)
            owner: str | None = connection.execute(query).scalar_one_or_none()
            return owner

    def release(self, key: str, owner: str) -> None:
        """Give it back; nothing happens where it is another's."""
        with self._database.writing() as connection:
            connection.execute(delete(leases).where(leases.c.key == key, leases.c.owner == owner))
