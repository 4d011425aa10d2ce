"""Work that only one process may do at a time, protected by a lease. A lease of a dead process can be taken
immediately.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from worksample.errors import PlanError
from worksample.store import Store
from worksample.store.lease import Lease
from worksample.store.lease_owner import is_dead, new_owner
from worksample.store.lease_renewal import renew_in_background

SECONDS = 60.0
"""Number of seconds after which a lease expires if it is not renewed. A waiting process gives up after the same
time.
"""


def living_holder(store: Store, key: str) -> str | None:
    """Return the owner of the lease on `key`, or None if the key is free. If the owner is a dead process, end its lease
    and return None.
    """
    owner = store.holder(key)
    if owner is not None and is_dead(owner):
        store.expire(key, owner)
        return store.holder(key)
    return owner


def take_lease(store: Store, key: str, owner: str) -> Lease | None:
    """Take the lease on `key`. A lease of a dead process is taken over immediately. Return None if another process has
    the lease.
    """
    lease = store.take(key, owner, SECONDS)
    if lease is None and living_holder(store, key) is None:
        lease = store.take(key, owner, SECONDS)
    return lease


@contextmanager
def exclusively(store: Store, key: str) -> Iterator[None]:
    """Wait for the lease on `key` and hold it during the block. Raises PlanError if another process has the lease for a
    minute.

    Commits within the block require the lease. If the lease was lost, a commit raises Superseded and stores nothing.
    """
    owner = new_owner()
    until = time.monotonic() + SECONDS
    while (lease := take_lease(store, key, owner)) is None:
        if time.monotonic() > until:
            raise PlanError(
                f"another process ({store.holder(key)}) has had the lease on {key!r} for a minute",
                next="run the same command again later",
            )
        time.sleep(0.05)
    try:
        with renew_in_background(store, lease, SECONDS), store.fence(lease):
            yield
    finally:
        store.release(key, owner)
