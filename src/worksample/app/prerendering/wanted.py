"""Which deliverables the open rounds will show."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample.errors import RecordMissing
from worksample.people.rounds.queues import CLOSED, all_queues
from worksample.people.work.item import panes_of
from worksample.people.work.withdrawn import WITHDRAWN
from worksample.records import Instance, Round
from worksample.results.graded import as_graded
from worksample.store.people_tables import items

if TYPE_CHECKING:
    from worksample.store import Store


def wanted(store: Store, known: set[str]) -> list[str]:
    """Digests of the manifests of items that are not in `known`, in the order in which they are given out.

    The ids of these items are added to `known`. Raises StoreError.
    """
    out: dict[str, None] = {}
    with store.database.reading() as connection:
        queues = [queue for queue in all_queues(connection) if queue.state != CLOSED]
        rows = {
            queue.round: connection.execute(
                select(items).where(items.c.queue == queue.round, ~WITHDRAWN).order_by(items.c.place)
            ).all()
            for queue in queues
        }
    for queue in queues:
        for row in rows[queue.round]:
            if row.id in known:
                continue
            # What is missing is said where the item is opened.
            with suppress(RecordMissing):
                instance = as_graded(store, store.get(Round, row.round), store.get(Instance, row.instance))
                panes = panes_of(store, queue, row, False, instance)
                out.update(dict.fromkeys(pane.manifest for pane in panes if pane.manifest))
            known.add(row.id)
    return list(out)
