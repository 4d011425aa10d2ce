"""Leases between processes: who works on what, and whether that process still lives."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from worksample.errors import PlanError
from worksample.store import Store
from worksample.store.lease import Lease
from worksample.store.lease_owner import is_dead, new_owner
from worksample.store.lease_renewal import renewed

SECONDS = 60.0
"""How long a claim holds without a sign of life."""


def living_holder(store: Store, key: str) -> str | None:
    """Who holds `key`; a lease of a dead process is ended first, and nobody holds it then."""
    owner = store.holder(key)
    if owner is not None and is_dead(owner):
        store.expire(key, owner)
        return store.holder(key)
    return owner


def take_lease(store: Store, key: str, owner: str) -> Lease | None:
    """Take `key`; at once where its holder is dead."""
    lease = store.take(key, owner, SECONDS)
    if lease is None and living_holder(store, key) is None:
        lease = store.take(key, owner, SECONDS)
    return lease


@contextmanager
def exclusively(store: Store, key: str) -> Iterator[None]:
    """Hold `key` for a piece of work, waiting for it. PlanError where another holds it for a minute.

    What the block commits needs that the key is still held: else it raises Superseded, and nothing of it is kept.
    """
    owner = new_owner()
    until = time.monotonic() + SECONDS
    while (lease := take_lease(store, key, owner)) is None:
        if time.monotonic() > until:
            raise PlanError(
                f"another process ({store.holder(key)}) has held {key!r} for a minute",
                next="run the same command again later",
            )
        time.sleep(0.05)
    try:
        with renewed(store, lease, SECONDS), store.fenced(lease):
            yield
    finally:
        store.release(key, owner)
