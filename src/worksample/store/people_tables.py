"""Database tables of people's work: accounts, queues, assignments and drafts.

Their rows exist only in the database and are not evidence. `store rebuild` does not change them. People's answers are
evidence and are committed as records. Times are microseconds since 1970 in UTC. Lists are stored as JSON.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, MetaData, Table, Text, text

from .schema import metadata


def _text(name: str, *, key: bool = False, index: bool = False, unique: bool = False) -> Column[str]:
    return Column(name, Text, nullable=False, primary_key=key, index=index or None, unique=unique or None)


def _maybe(name: str) -> Column[str]:
    return Column(name, Text, nullable=True)


def _whole(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


accounts = Table(
    "accounts",
    metadata,
    _text("id", key=True),
    _text("key"),
    _text("name"),
    _text("roles"),
    _maybe("password"),
    _text("evaluator"),
    _text("domains"),
    _flag("disabled"),
    _whole("active_until"),
    _whole("at"),
)
"""Accounts of people. `key` is the name in a normalised, unique form. `active_until` is the time up to which the
person's working time has been counted.
"""
Index("one_account_per_name", accounts.c.key, unique=True)

sessions = Table(
    "sessions",
    metadata,
    _text("hash", key=True),
    _text("account", index=True),
    _whole("expires"),
    _whole("ends"),
    _whole("at"),
)
"""Sessions of people who are signed in. `expires` moves with each use of the session. `ends` is fixed when the session
begins.
"""

tickets = Table(
    "tickets",
    metadata,
    _text("hash", key=True),
    _text("kind"),
    _maybe("account"),
    _text("roles"),
    _text("author"),
    _whole("expires"),
    Column("used", BigInteger, nullable=True),
)
"""Invitations and sign-in links that can be used once."""

queues = Table(
    "queues",
    metadata,
    _text("round", key=True),
    _text("kind"),
    _text("state"),
    _text("body"),
    _whole("at"),
)

items = Table(
    "items",
    metadata,
    _text("id", key=True),
    _text("queue"),
    _text("round"),
    _text("instance"),
    _text("subject", index=True),
    _maybe("second"),
    _text("domain"),
    _text("maker"),
    Column("place", Float(53), nullable=False),
    _whole("wanted"),
    _whole("free"),
    _maybe("expected"),
    _flag("withdrawn"),
)
"""Items of work in people's queues. `free` is the number of further people who may take the item. `expected` is the
known answer of a gold item, as JSON.
"""
Index("items_in_order", items.c.queue, items.c.place)
# Without this index, finding the next free item scans all items that are taken.
Index(
    "items_that_are_free", items.c.queue, items.c.place, items.c.id,
    sqlite_where=text("free > 0 AND withdrawn = 0"), postgresql_where=text("free > 0 AND NOT withdrawn"),
)  # fmt: skip

assignments = Table(
    "assignments",
    metadata,
    _text("item", key=True),
    _text("account", key=True),
    _text("queue"),
    _text("state"),
    _whole("expires"),
    _whole("started"),
    _whole("ordinal"),
    _flag("flipped"),
    _whole("active"),
    _maybe("evaluation"),
)
"""Assignments of items to people: who has an item, had it, or must not get it. Each pair of item and person has at most
one row, so that nobody gets an item twice.
"""
Index("assignments_of_account", assignments.c.account, assignments.c.queue, assignments.c.state)
Index("assignments_that_expire", assignments.c.state, assignments.c.expires)

drafts = Table(
    "drafts",
    metadata,
    _text("item", key=True),
    _text("account", key=True),
    _whole("revision"),
    _text("payload"),
    _whole("at"),
)

seen = Table(
    "seen",
    metadata,
    _text("item", key=True),
    _text("account", key=True),
    _text("pane", key=True),
    _text("path", key=True),
    _whole("at"),
)

activity = Table(
    "activity",
    metadata,
    _text("id", key=True),
    _text("account", index=True),
    _maybe("item"),
    _text("kind", index=True),
    _text("note"),
    _whole("at"),
)

capabilities = Table(
    "capabilities",
    metadata,
    _text("hash", key=True),
    _text("session"),
    _text("account"),
    _text("item"),
    _text("pane"),
    _text("manifest"),
    _text("hidden"),
    Column("expires", BigInteger, nullable=False, index=True),
)
"""Secret host names under which the app shows deliverables, by the hash of the name. `hidden` has the words to black
out, as JSON.
"""

rubric_versions = Table(
    "rubric_versions",
    metadata,
    _text("rubric", key=True),
    Column("number", BigInteger, nullable=False, primary_key=True, autoincrement=False),
    _text("body"),
    _text("digest", index=True),
    _text("author"),
    _text("reason"),
    _whole("at"),
)
"""Versions of rubrics. Rows are only added and never changed. `body` has the criteria as JSON; `digest` is the digest
of the criteria, for lookup.
"""

rubric_suggestions = Table(
    "rubric_suggestions",
    metadata,
    _text("id", key=True),
    _text("rubric", index=True),
    _text("account"),
    _text("role", index=True),
    _text("body"),
    _whole("at"),
)
"""Suggestions of models for rubrics, and failed requests for suggestions. Each is requested once and never changed.
`body` has the model, the digests and the usage as JSON.
"""

rubric_taken = Table(
    "rubric_taken",
    metadata,
    _text("rubric", key=True),
    Column("number", BigInteger, nullable=False, primary_key=True, autoincrement=False),
    _text("suggestion", key=True),
)
"""Suggestions of models from which an expert copied criteria into a version of a rubric."""

EVERYTHING: MetaData = metadata
"""All tables of a store's database: the tables of this module and those of the index."""
