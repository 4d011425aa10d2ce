"""Fences: a fenced transaction succeeds only if its process still owns a lease."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, text

from worksample.errors import Superseded

if TYPE_CHECKING:
    from .lease import Lease

_HELD = text("SELECT 1 FROM leases WHERE key = :key AND owner = :owner AND generation = :generation")
_HELD_SHARED = text(f"{_HELD.text} FOR SHARE")
"""Query for a lease on PostgreSQL. It locks the row, so that no other owner can take the key over before the
transaction ends.
"""
_fences: ContextVar[tuple[tuple[Any, Lease], ...]] = ContextVar("worksample_fences", default=())


@contextmanager
def require_lease(database: Any, lease: Lease) -> Iterator[None]:
    """Require `lease` in every transaction on records of `database` that this thread makes within the block."""
    token = _fences.set((*_fences.get(), (database, lease)))
    try:
        yield
    finally:
        _fences.reset(token)


def is_fenced(database: Any) -> bool:
    """Return whether the caller is within a block of `require_lease` for `database`."""
    return any(of is database for of, _ in _fences.get())


def need_leases(database: Any, connection: Connection) -> None:
    """Raise Superseded if a lease that an enclosing `require_lease` requires was lost."""
    for of, lease in _fences.get():
        if of is not database:
            continue
        held = _HELD if connection.dialect.name == "sqlite" else _HELD_SHARED
        values = {"key": lease.key, "owner": lease.owner, "generation": lease.generation}
        if connection.execute(held, values).first() is None:
            raise Superseded(
                "another process took this work over while this one was stopped", where=lease.key,
                next="do nothing: the other process's result counts",
            )  # fmt: skip
