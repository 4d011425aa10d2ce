"""Addresses of deliverables: one host name per pane and session, unguessable, and dead with the session."""

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

from sqlalchemy import Connection, bindparam, delete, select, update

from worksample.people.clock import SECOND
from worksample.people.tokens import hashed
from worksample.store.people_tables import accounts, capabilities, sessions
from worksample.store.prepared import Prepared

if TYPE_CHECKING:
    from worksample.people.clock import Clock
    from worksample.store import Store

LABEL = re.compile(r"[a-z2-7]{32,52}")
REMEMBERED_SECONDS = 3
"""How long a process remembers a grant: a page of many files asks the database once."""
MINTED_SECONDS = 600
"""How long a process remembers that it gave out a label."""
HOUR = 3_600 * SECOND


@dataclass(frozen=True, slots=True)
class Grant:
    """What a label opens. `session`: hash; `hidden`: words that must not be read in names and texts."""

    session: str
    account: str
    item: str
    pane: str
    manifest: str
    hidden: tuple[str, ...]
    expires: int


def label_of(session_token: str, item: str, pane: str, manifest: str) -> str:
    """Stable while the session lasts, so that browsers keep what they loaded; nobody else can work it out."""
    text = json.dumps(["content", item, pane, manifest]).encode()
    digest = hmac.new(session_token.encode("utf-8", "surrogatepass"), text, hashlib.sha256).digest()
    return base64.b32encode(digest).decode().rstrip("=").lower()


_c = capabilities.c
Rows = list[dict[str, Any]]
# Built once: under fifty evaluators building statements costs more than running them.
_HELD = Prepared(select(_c.hash, _c.hidden, _c.expires).where(_c.hash == bindparam("its_hash")))
_SWEEP = delete(capabilities).where(_c.expires <= bindparam("now"))
_RENEW = Prepared(
    update(capabilities)
    .where(_c.hash == bindparam("its_hash"))
    .values(expires=bindparam("until"), hidden=bindparam("words"))
)
_INSERT = Prepared(capabilities.insert())


class Capabilities:
    """The database keeps hashes of labels: who reads it can open nothing. Threads and processes may share it.

    `hours`: how long a label is good; `remember`: how many grants this process remembers.
    """

    def __init__(self, store: Store, clock: Clock, *, hours: float = 12, remember: int = 2_000) -> None:
        self._remember = remember
        self._db, self._clock, self._lasts = store.database, clock, int(hours * HOUR)
        self._known: OrderedDict[str, tuple[int, Grant]] = OrderedDict()
        self._minted: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._lock = threading.Lock()
        self._swept = 0

    def mint_all(
        self, session_token: str, account_id: str, item_id: str, panes: Mapping[str, str], hidden: Collection[str] = ()
    ) -> dict[str, str]:
        """Labels by pane, for panes by label -> manifest digest; panes without a digest have none. Raises StoreError.

        Asked again it gives the same ones, and writes only where they have used up half of their time.
        """
        now, words = self._clock(), json.dumps(sorted(set(hidden)))
        labels = {pane: label_of(session_token, item_id, pane, digest) for pane, digest in panes.items() if digest}
        rows: Rows = [
            {
                "hash": hashed(label), "session": hashed(session_token), "account": account_id, "item": item_id,
                "pane": pane, "manifest": panes[pane], "hidden": words, "expires": now + self._lasts,
            }
            for pane, label in labels.items()
        ]  # fmt: skip
        if all(self._minted.get((row["hash"], words), 0) > now for row in rows):
            return labels
        with self._db.writing() as connection:
            self._sweep(connection, now)
            absent, stale = _lacking(connection, rows, now + self._lasts // 2)
            for row in stale:
                _RENEW.run(connection, {"its_hash": row["hash"], "until": row["expires"], "words": row["hidden"]})
            _INSERT.many(connection, absent)
        if stale:
            self.forget(session_token)
        if not absent and not stale:
            # What was written now is in the database once the transaction around this one is.
            self._note_minted(rows, now + min(self._lasts // 4, MINTED_SECONDS * SECOND))
        return labels

    def _sweep(self, connection: Connection, now: int) -> None:
        """Drop what ran out, once a minute at most."""
        if now >= self._swept + 60 * SECOND:
            connection.execute(_SWEEP, {"now": now})
            self._swept = now

    def _note_minted(self, rows: Rows, until: int) -> None:
        """Until then the database need not be asked again whether it holds these."""
        with self._lock:
            for row in rows:
                self._minted[row["hash"], row["hidden"]] = until
            while len(self._minted) > self._remember:
                self._minted.popitem(last=False)

    def remembered(self, label: str) -> Grant | None:
        """What this process found a moment ago, without asking the database."""
        now = self._clock()
        with self._lock:
            at, grant = self._known.get(label, (0, None))
        return grant if grant is not None and now - at < REMEMBERED_SECONDS * SECOND and grant.expires > now else None

    def find(self, label: str) -> Grant | None:
        """What a label opens now; None where it is wrong or expired, its session over or its account disabled."""
        if not LABEL.fullmatch(label):
            return None
        found = self.remembered(label)
        if found is not None:
            return found
        now = self._clock()
        tables = capabilities.join(sessions, sessions.c.hash == capabilities.c.session)
        tables = tables.join(accounts, accounts.c.id == sessions.c.account)
        query = select(capabilities, sessions.c.expires.label("until"), sessions.c.ends, accounts.c.disabled)
        query = query.select_from(tables).where(capabilities.c.hash == hashed(label))
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
        """Forget at once what this process remembers of a session; call it where one ends."""
        session = hashed(session_token)
        with self._lock:
            for label in [label for label, (_, grant) in self._known.items() if grant.session == session]:
                del self._known[label]

    def forget_account(self, account: str) -> None:
        """As `forget`, where an account is disabled or its password changed."""
        with self._lock:
            for label in [label for label, (_, grant) in self._known.items() if grant.account == account]:
                del self._known[label]


def _lacking(connection: Connection, rows: Rows, until: int) -> tuple[Rows, Rows]:
    """Those that are not there, and those that run out before `until` or hide other words."""
    held = [(row, _HELD.first(connection, {"its_hash": row["hash"]})) for row in rows]
    absent = [row for row, kept in held if kept is None]
    return absent, [row for row, kept in held if kept and (kept.expires < until or kept.hidden != row["hidden"])]
