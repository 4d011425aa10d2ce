"""Work of evaluators that is not submitted yet: drafts with revisions, the time worked, and the files opened."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from worksample.errors import UsageError
from worksample.people.access.account import Account
from worksample.people.access.tokens import storable
from worksample.people.clock import SECOND, Clock
from worksample.people.errors import Conflict
from worksample.people.quality.flags import all_flags
from worksample.people.rounds.queues import Queue, add_activity, find_queue
from worksample.records import Instance, canonical
from worksample.store.people_tables import assignments, items, seen

from . import lease_queries as sql
from .assignment_states import DONE, LEASED, SKIPPED, STRUCK
from .blinding import scrub
from .item import Draft, Item, build_item, hidden_words
from .item_leases import ItemLeases, own_row

if TYPE_CHECKING:
    from worksample.store import Store

LARGEST = 256_000
"""Maximum size of a draft in bytes."""
MOST_SEEN = 20_000
_Parts = tuple[Queue, Any, Any, Draft | None, tuple[tuple[str, str], ...]]
_a = assignments.c


class Drafts:
    """Drafts of a store's evaluators."""

    def __init__(self, store: Store, clock: Clock, leasing: ItemLeases) -> None:
        self._store, self._db, self._clock, self._leasing = store, store.database, clock, leasing

    def item(self, account: Account, id: str) -> Item:
        """Return one of the person's items, submitted or not. Raises NotYours."""
        with self._db.reading() as connection:
            parts = self._parts(connection, account, id)
        return build_item(self._store, *parts)

    def claim(self, account: Account, round: str | None = None, *, ahead: bool = False) -> Item | None:
        """Return the item that the person has open, else claim the next one; None if there is none. `ahead`: one more.

        Claims as `ItemLeases.claim` does and reads the item in the same transaction.
        """
        with self._db.writing() as connection:
            id = self._leasing.claim(connection, account, round, ahead=ahead)
            parts = None if id is None else self._parts(connection, account, id)
        return None if parts is None else build_item(self._store, *parts)

    def _parts(self, connection: Connection, account: Account, id: str) -> _Parts:
        mine = own_row(connection, id, account)
        row = connection.execute(sql.ITEM, {"id": id}).one()
        queue = find_queue(connection, row.queue)
        looked = connection.execute(sql.SEEN, {"item": id, "account": account.id}).all()
        return queue, row, mine, self._read_draft(connection, mine), tuple((pane, path) for pane, path in looked)

    def hidden_words(self, item: str, account: Account) -> tuple[str, ...]:
        """Return the names that would reveal the maker of an item's work. Raises NotYours."""
        with self._db.reading() as connection:
            own_row(connection, item, account)
            row = connection.execute(sql.ITEM, {"id": item}).one()
        return hidden_words(self._store, row)

    def save(
        self, item: str, account: Account, revision: int, payload: Mapping[str, Any], active_seconds: float = 0.0
    ) -> Draft:
        """Save a draft and renew the lease. `revision`: the revision that was edited, 0 for none. The saved revision is
        higher by one.

        `active_seconds`: working time since the last save. At most the time since the person's time was last counted is
        added, so two windows or a repeated request count once. Saving the same draft again changes nothing. Raises
        Conflict for a stale revision or a lost lease, NotYours.
        """
        text = _text(payload)
        with self._db.writing() as connection:
            now = self._clock()
            mine = self._leasing.renew(connection, item, account, now)
            held = self._read_draft(connection, mine)
            current = held.revision if held is not None else 0
            if held is not None and revision == current - 1 and canonical(dict(held.payload)).decode() == text:
                return held
            if revision != current:
                raise Conflict(
                    f"the draft was changed in the meantime: its newest revision is {current}, not {revision}",
                    next="load the item anew, then save",
                )
            active = self.count(connection, mine, active_seconds, now)
            connection.execute(sql.NO_DRAFT, {"its_item": item, "its_account": account.id})
            row = {"item": item, "account": account.id, "revision": current + 1, "payload": text, "at": now}
            connection.execute(sql.NEW_DRAFT, row)
        return Draft(current + 1, json.loads(text), now, active / SECOND)

    def _read_draft(self, connection: Connection, mine: Any) -> Draft | None:
        row = connection.execute(sql.DRAFT, {"item": mine.item, "account": mine.account}).first()
        return None if row is None else Draft(row.revision, json.loads(row.payload), row.at, mine.active / SECOND)

    def count(self, connection: Connection, mine: Any, seconds: float, now: int) -> int:
        """Add working time to an item and return its total in microseconds."""
        if not 0 <= seconds < float("inf"):
            raise UsageError(
                f"the working time {seconds} is not a number of 0 seconds or more", next="load the page again"
            )
        until = connection.execute(sql.UNTIL, {"account": mine.account}).one().active_until
        credit = max(0, min(int(seconds * SECOND), now - max(until, mine.started)))
        connection.execute(sql.COUNTED, {"its_account": mine.account, "until": max(now, until)})
        connection.execute(sql.WORKED, {"its_item": mine.item, "its_account": mine.account, "credit": credit})
        total: int = mine.active + credit
        return total

    def mark_seen(self, item: str, account: Account, pane: str, path: str) -> None:
        """Record that a file was opened, once per file and for at most 20,000 files. Raises NotYours."""
        pane, path = storable(pane)[:100], storable(path)[:3000]
        with self._db.writing() as connection:
            own_row(connection, item, account)
            mine = (seen.c.item == item) & (seen.c.account == account.id)
            here = mine & (seen.c.pane == pane) & (seen.c.path == path)
            if connection.execute(select(seen.c.at).where(here)).first() is not None:
                return
            if connection.execute(select(func.count()).select_from(seen).where(mine)).scalar_one() < MOST_SEEN:
                row = {"item": item, "account": account.id, "pane": pane, "path": path}
                connection.execute(seen.insert().values({**row, "at": self._clock()}))

    def history(self, account: Account) -> list[dict[str, Any]]:
        """List the person's items, the latest first.

        Keys: item, round, form, title, state, started, active_seconds, evaluation, flags. A flag has kind, text, at,
        and the admin's answer ("" if none) without names that would unblind the item.
        """
        mine = (_a.account == account.id) & _a.state.in_([LEASED, DONE, STRUCK, SKIPPED])
        query = select(assignments, items.c.instance).join(items, items.c.id == _a.item).where(mine)
        with self._db.reading() as connection:
            rows = connection.execute(query.order_by(_a.started.desc(), _a.item)).all()
            forms = {id: find_queue(connection, id).form.value for id in {row.queue for row in rows}}
        raised = self._flags_by_item(account)
        titles = {id: self._store.get(Instance, id).title for id in {row.instance for row in rows}}
        return [
            {
                "item": row.item, "round": row.queue, "form": forms[row.queue], "title": titles[row.instance],
                "state": row.state, "started": row.started, "active_seconds": row.active / SECOND,
                "evaluation": row.evaluation, "flags": raised.get(row.item, []),
            }
            for row in rows
        ]  # fmt: skip

    def _flags_by_item(self, account: Account) -> dict[str, list[dict[str, Any]]]:
        """Return the person's flags by item."""
        out: dict[str, list[dict[str, Any]]] = {}
        for flag in all_flags(self._store, account.id):
            answer = scrub(flag.closed.note, self.hidden_words(flag.item, account)) if flag.closed else ""
            out.setdefault(flag.item, []).append(
                {"kind": flag.kind, "text": flag.text, "at": flag.at, "answer": answer}
            )
        return out

    def read_training(self, account: Account, instructions: str) -> None:
        """Record that the person has read a version of the instructions."""
        with self._db.writing() as connection:
            add_activity(connection, uuid.uuid4().hex, account.id, None, "training", instructions, self._clock())


def _text(payload: Mapping[str, Any]) -> str:
    try:
        text = canonical(dict(payload)).decode()
        # A lone surrogate cannot be encoded in the responses that return the draft.
        json.dumps(payload, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as e:
        raise UsageError(
            f"the draft is not valid JSON: {e}", next="load the page again, then write the answer anew"
        ) from e
    if len(text) > LARGEST:
        raise UsageError(f"the draft has {len(text)} bytes; at most {LARGEST} can be saved", next="shorten it")
    return text
