"""Function that runs a person's SELECT query on a delivered SQLite database, in a box."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.box import FairTimeout
from worksample.errors import UsageError
from worksample.records import Manifest
from worksample.sandboxes import open_box

from .box_converter import COMMAND, Converter, job_message

if TYPE_CHECKING:
    from worksample.store import Store

SECONDS = 15.0
LENGTH = 20_000
"""Maximum characters of a query."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Result of a query with at most 1,000 rows. `more` says whether the query has further rows. `problem` is SQLite's
    message if the query failed.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    more: bool = False
    problem: str = ""


async def query(store: Store, manifest: Manifest, path: str, sql: str) -> QueryResult:
    """Run a query on the database at a quoted path, read-only, for at most five seconds.

    Raises UsageError if the manifest lacks the path; SandboxUnavailable if this machine cannot start a box; StoreError
    if the store cannot be read.
    """
    entry = manifest.find(path)
    if entry is None or entry.blob is None or len(sql) > LENGTH:
        raise UsageError(
            f"no database at {path!r}" if entry is None or entry.blob is None else "the query is too long",
            next=f"query a database of the list of files, in at most {LENGTH} characters",
        )
    config = await asyncio.to_thread(Converter(store, manifest).config)
    async with open_box(config) as box:
        done = await box.run(COMMAND, input=job_message([entry], light=False, query=sql), timeout=FairTimeout(SECONDS))
    try:
        _, plain = json.loads(done.stdout)
        if "unreadable" in plain:
            return QueryResult(problem=str(plain["unreadable"]))
        rows = tuple(tuple(row) for row in plain["rows"])
        return QueryResult(tuple(map(str, plain["columns"])), rows, bool(plain["more"]))
    except (ValueError, KeyError, TypeError):
        return QueryResult(
            problem="it needs too much memory"
            if done.oom
            else "the server is too busy: ask again"
            if done.starved
            else "the query took too long"
        )
