"""Leases between processes: who works on what, and whether that process still lives."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from worksample.errors import PlanError
from worksample.store import Store
from worksample.store.owner import is_dead, new_owner

SECONDS = 60.0
"""How long a claim holds without a sign of life."""


def holder(store: Store, key: str) -> str | None:
    """Who holds `key`; a lease of a dead process is given back first, and nobody holds it then."""
    owner = store.holder(key)
    if owner is not None and is_dead(owner):
        store.release(key, owner)
        return store.holder(key)
    return owner


def claim(store: Store, key: str, owner: str) -> bool:
    """Take `key`; at once where its holder is dead."""
    return store.lease(key, owner, SECONDS) or (holder(store, key) is None and store.lease(key, owner, SECONDS))


@contextmanager
def alone(store: Store, key: str) -> Iterator[None]:
    """Hold `key` for a short piece of work, waiting for it. PlanError where another holds it for a minute."""
    owner = new_owner()
    until = time.monotonic() + SECONDS
    while not claim(store, key, owner):
        if time.monotonic() > until:
            raise PlanError(
                f"another process ({store.holder(key)}) has held {key!r} for a minute",
                next="run the same command again later",
            )
        time.sleep(0.05)
    try:
        yield
    finally:
        store.release(key, owner)
