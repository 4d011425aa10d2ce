"""Capability host names for deliverables: one unguessable label per pane and session, valid while the session lasts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select, update

from worksample.people.access.tokens import hash_token
from worksample.people.clock import SECOND
from worksample.store.people_tables import accounts, capabilities, sessions

if TYPE_CHECKING:
    from worksample.people.clock import Clock
    from worksample.store import Store

LABEL = re.compile(r"[a-z2-7]{32,52}")
REMEMBERED_SECONDS = 3
"""Seconds for which a process caches a grant, so that a page with many files needs one database query."""
HOUR = 3_600 * SECOND


@dataclass(frozen=True, slots=True)
class Grant:
    """The access that a label gives. `session`: hash of its token; `hidden`: words to remove from names and texts."""

    session: str
    account: str
    item: str
    pane: str
    manifest: str
    hidden: tuple[str, ...]
    expires: int


def label_of(session_token: str, item: str, pane: str, manifest: str) -> str:
    """Derive the label of a pane from the session's token.

    The label stays the same during a session, so browsers can cache. Nobody without the token can derive it.
    """
    text = json.dumps(["content", item, pane, manifest]).encode()
    digest = hmac.new(session_token.encode("utf-8", "surrogatepass"), text, hashlib.sha256).digest()
    return base64.b32encode(digest).decode().rstrip("=").lower()


_c = capabilities.c
Rows = list[dict[str, Any]]


class Capabilities:
    """Labels of one store. The database holds only hashes of labels, so a copy of the database gives no access.

    Safe to use from several threads and processes. `hours`: how long a label is valid; `remember`: how many grants this
    process caches.
    """

    def __init__(self, store: Store, clock: Clock, *, hours: float = 12, remember: int = 2_000) -> None:
        self._remember = remember
        self._db, self._clock, self._lasts = store.database, clock, int(hours * HOUR)
        self._known: OrderedDict[str, tuple[int, Grant]] = OrderedDict()
        self._lock = threading.Lock()

    def mint_all(
        self, session_token: str, account_id: str, item_id: str, panes: Mapping[str, str], hidden: Collection[str] = ()
    ) -> dict[str, str]:
        """Return a label for each pane that has a manifest digest. `panes`: pane name -> manifest digest. Raises
        StoreError.

        Repeated calls return the same labels, and write to the database only after half of a label's time has passed.
        """
        now, words = self._clock(), json.dumps(sorted(set(hidden)))
        labels = {pane: label_of(session_token, item_id, pane, digest) for pane, digest in panes.items() if digest}
        rows: Rows = [
            {
                "hash": hash_token(label), "session": hash_token(session_token), "account": account_id, "item": item_id,
                "pane": pane, "manifest": panes[pane], "hidden": words, "expires": now + self._lasts,
            }
            for pane, label in labels.items()
        ]  # fmt: skip
        with self._db.reading() as connection:
            lacking = any(_missing_or_stale(connection, rows, now + self._lasts // 2))
        if lacking:
            with self._db.writing() as connection:
                connection.execute(delete(capabilities).where(_c.expires <= now))
                # Check again: another thread or process may have been faster.
                absent, stale = _missing_or_stale(connection, rows, now + self._lasts // 2)
                for row in stale:
                    values = {"expires": row["expires"], "hidden": row["hidden"]}
                    connection.execute(update(capabilities).where(_c.hash == row["hash"]).values(values))
                if absent:
                    connection.execute(capabilities.insert(), absent)
            if stale:
                self.forget(session_token)
        return labels

    def find_remembered(self, label: str) -> Grant | None:
        """Return the grant that this process has cached for a label, without a database query."""
        now = self._clock()
        with self._lock:
            at, grant = self._known.get(label, (0, None))
        return grant if grant is not None and now - at < REMEMBERED_SECONDS * SECOND and grant.expires > now else None

    def find(self, label: str) -> Grant | None:
        """Return the grant of a label; None if it is wrong or expired, its session is over or its account is
        disabled.
        """
        if not LABEL.fullmatch(label):
            return None
        found = self.find_remembered(label)
        if found is not None:
            return found
        now = self._clock()
        tables = capabilities.join(sessions, sessions.c.hash == capabilities.c.session)
        tables = tables.join(accounts, accounts.c.id == sessions.c.account)
        query = select(capabilities, sessions.c.expires.label("until"), sessions.c.ends, accounts.c.disabled)
        query = query.select_from(tables).where(capabilities.c.hash == hash_token(label))
        with self._db.reading() as connection:
            row = connection.execute(query.where(accounts.c.id == capabilities.c.account)).first()
        if row is None or row.disabled or min(row.expires, row.until, row.ends) <= now:
            return None
        grant = Grant(
            row.session, row.account, row.item, row.pane, row.manifest, tuple(json.loads(row.hidden)),
            min(row.expires, row.until, row.ends),
        )  # fmt: skip
        with self._lock:
            self._known[label] = (now, grant)
            self._known.move_to_end(label)
            while len(self._known) > self._remember:
                self._known.popitem(last=False)
        return grant

    def forget(self, session_token: str) -> None:
        """Drop what this process has cached of a session. Call this when a session ends."""
        session = hash_token(session_token)
        with self._lock:
            for label in [label for label, (_, grant) in self._known.items() if grant.session == session]:
                del self._known[label]

    def forget_account(self, account: str) -> None:
        """Drop what this process has cached of an account. Call this when an account is disabled or its password
        changes.
        """
        with self._lock:
            for label in [label for label, (_, grant) in self._known.items() if grant.account == account]:
                del self._known[label]


def _missing_or_stale(connection: Connection, rows: Rows, until: int) -> tuple[Rows, Rows]:
    """Split off the rows that are not stored, and those that expire before `until` or hide other words."""
    query = select(_c.hash, _c.hidden, _c.expires).where(_c.hash.in_([row["hash"] for row in rows]))
    held = {kept.hash: kept for kept in connection.execute(query)}
    absent = [row for row in rows if row["hash"] not in held]
    there = [(row, held[row["hash"]]) for row in rows if row["hash"] in held]
    return absent, [row for row, kept in there if kept.expires < until or kept.hidden != row["hidden"]]
