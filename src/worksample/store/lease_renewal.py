"""Renewal of leases while the work that needs them continues."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from worksample.errors import StoreError

if TYPE_CHECKING:
    from .lease import Lease
    from .store import Store


def is_held(store: Store, lease: Lease, seconds: float) -> bool:
    """Renew a lease once. Return False if another process has taken the lease over.

    If the database fails, return True, because the lease is renewed again before it expires.
    """
    try:
        return store.keep(lease, seconds)
    except StoreError:
        return True


async def renew_leases(
    store: Store, seconds: float, leases: Callable[[], Iterable[Lease]], lost: Callable[[Lease], object]
) -> None:
    """Renew all leases that `leases()` returns, until cancelled. Each is renewed three times within `seconds`. Call
    `lost` with each lease that another process has taken over.
    """
    while True:
        await asyncio.sleep(seconds / 3)
        for lease in tuple(leases()):
            if not await asyncio.to_thread(is_held, store, lease, seconds):
                lost(lease)


async def renew_lease(store: Store, seconds: float, lease: Lease) -> None:
    """Renew one lease three times within `seconds`, until cancelled or until another process has taken it over."""
    while True:
        await asyncio.sleep(seconds / 3)
        if not await asyncio.to_thread(is_held, store, lease, seconds):
            return


@contextmanager
def renew_in_background(store: Store, lease: Lease, seconds: float) -> Iterator[None]:
    """Renew a lease in a background thread during the block. For callers without an event loop."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(seconds / 3):
            if not is_held(store, lease, seconds):
                return

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
