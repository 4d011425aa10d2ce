"""Make the index anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .store import Store


def rebuild(store: Store) -> int:
    """Empty the index and replay every object; returns how many records there are.

    One transaction: others see the old rows until the new ones are complete. Leases stay. Every frame is equal before
    and after, since liveness and verdicts are functions of the set of records alone. Raises Broken, StoreError.
    """
    return store.reindex()
