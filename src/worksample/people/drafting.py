"""What is not handed in yet: drafts with revisions, the time that was worked, what was opened."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, func, select, update

from worksample.errors import UsageError
from worksample.records import canonical
from worksample.store.people_tables import accounts, assignments, drafts, items, seen

from .account import Account
from .clock import SECOND, Clock
from .faults import Conflict
from .item import Draft, Item, build_item, hidden_words
from .leasing import Leasing, own
from .queues import find_queue, note
from .state import DONE, LEASED, SKIPPED, STRUCK
from .tokens import storable

if TYPE_CHECKING:
    from worksample.store import Store

LARGEST = 256_000
"""Bytes of a draft."""
MOST_SEEN = 20_000
_a = assignments.c


class Drafting:
    def __init__(self, store: Store, clock: Clock, leasing: Leasing) -> None:
        self._store, self._db, self._clock, self._leasing = store, store.database, clock, leasing

    def item(self, account: Account, id: str) -> Item:
        """One of the person's own items, handed in or not. NotYours."""
        with self._db.reading() as connection:
            mine = own(connection, id, account)
            row = connection.execute(select(items).where(items.c.id == id)).one()
            queue = find_queue(connection, row.queue)
            draft = self._draft(connection, mine)
            opened = (seen.c.item == id) & (seen.c.account == account.id)
            paths = connection.execute(
                select(seen.c.pane, seen.c.path).where(opened).order_by(seen.c.pane, seen.c.path)
            )
            looked = tuple((pane, path) for pane, path in paths)
        return build_item(self._store, queue, row, mine, draft, looked)

    def hidden_words(self, item: str, account: Account) -> tuple[str, ...]:
        """Names that would give away who made what is shown. NotYours."""
        with self._db.reading() as connection:
            own(connection, item, account)
            row = connection.execute(select(items).where(items.c.id == item)).one()
        return hidden_words(self._store, row)

    def save(
        self, item: str, account: Account, revision: int, payload: Mapping[str, Any], active_seconds: float
    ) -> Draft:
        """Keep a draft and renew the lease. `revision`: the one it builds on, 0 for none; the draft's is one higher.

        `active_seconds`: worked since the last save. Never more is counted than time has passed since a person's time
        was counted last, on whatever item: two windows, or a request sent twice, count once. Saving what is there
        already changes nothing. Conflict for a stale revision or a lease that passed on; NotYours.
        """
        text = _text(payload)
        with self._db.writing() as connection:
            now = self._clock()
            mine = self._leasing.hold(connection, item, account, now)
            held = self._draft(connection, mine)
            current = held.revision if held is not None else 0
            if held is not None and revision == current - 1 and canonical(dict(held.payload)).decode() == text:
                return held
            if revision != current:
                raise Conflict(
                    f"revision {revision} is not the newest, {current} is", next="load the item anew, then save"
                )
            active = self.count(connection, mine, active_seconds, now)
            key = (drafts.c.item == item) & (drafts.c.account == account.id)
            connection.execute(delete(drafts).where(key))
            row = {"item": item, "account": account.id, "revision": current + 1, "payload": text, "at": now}
            connection.execute(drafts.insert().values(row))
        return Draft(current + 1, json.loads(text), now, active / SECOND)

    def _draft(self, connection: Connection, mine: Any) -> Draft | None:
        key = (drafts.c.item == mine.item) & (drafts.c.account == mine.account)
        row = connection.execute(select(drafts).where(key)).first()
        return None if row is None else Draft(row.revision, json.loads(row.payload), row.at, mine.active / SECOND)

    def count(self, connection: Connection, mine: Any, seconds: float, now: int) -> int:
        """Add time worked on an item; returns microseconds so far."""
        if not 0 <= seconds < float("inf"):
            raise UsageError(f"{seconds} seconds of work")
        until = connection.execute(select(accounts.c.active_until).where(accounts.c.id == mine.account)).scalar_one()
        credit = max(0, min(int(seconds * SECOND), now - max(until, mine.started)))
        connection.execute(update(accounts).where(accounts.c.id == mine.account).values(active_until=max(now, until)))
        key = (_a.item == mine.item) & (_a.account == mine.account)
        connection.execute(update(assignments).where(key).values(active=_a.active + credit))
        total: int = mine.active + credit
        return total

    def mark_seen(self, item: str, account: Account, pane: str, path: str) -> None:
        """Note that a file was opened. NotYours; nothing happens twice, nor beyond 20,000 files."""
        pane, path = storable(pane)[:100], storable(path)[:3000]
        with self._db.writing() as connection:
            own(connection, item, account)
            mine = (seen.c.item == item) & (seen.c.account == account.id)
            here = mine & (seen.c.pane == pane) & (seen.c.path == path)
            if connection.execute(select(seen.c.at).where(here)).first() is not None:
                return
            if connection.execute(select(func.count()).select_from(seen).where(mine)).scalar_one() < MOST_SEEN:
                row = {"item": item, "account": account.id, "pane": pane, "path": path}
                connection.execute(seen.insert().values({**row, "at": self._clock()}))

    def history(self, account: Account) -> list[dict[str, Any]]:
        """The person's items, the latest first: item, round, state, started, active_seconds, evaluation."""
        mine = (_a.account == account.id) & _a.state.in_([LEASED, DONE, STRUCK, SKIPPED])
        query = select(assignments).where(mine).order_by(_a.started.desc(), _a.item)
        with self._db.reading() as connection:
            return [
                {
                    "item": row.item, "round": row.queue, "state": row.state, "started": row.started,
                    "active_seconds": row.active / SECOND, "evaluation": row.evaluation,
                }
                for row in connection.execute(query)
            ]  # fmt: skip

    def read_training(self, account: Account, instructions: str) -> None:
        """Note that the person has read a version of the instructions."""
        with self._db.writing() as connection:
            note(connection, uuid.uuid4().hex, account.id, None, "training", instructions, self._clock())


def _text(payload: Mapping[str, Any]) -> str:
    try:
        text = canonical(dict(payload)).decode()
    except (TypeError, ValueError, RecursionError) as e:
        raise UsageError(f"a draft is JSON: {e}") from e
    if len(text) > LARGEST:
        raise UsageError(f"a draft of {len(text)} bytes; {LARGEST} are kept")
    return text
