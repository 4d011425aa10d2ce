"""A table of the index, made anew with the columns of today from what its own rows hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Boolean, Column, Connection, MetaData, Table, inspect, select, text

from worksample.records import from_envelope

from . import schema
from .rows import Row, row

_AT_ONCE = 500
_OF_EVERY = ("id", "object", "schema_version", "body")


def renew(connection: Connection, kind: str) -> None:
    """A trial stays live where it was: that follows from the other rows, none of which change what they say."""
    table = schema.TABLES[kind]
    kept = set_aside(connection, table)
    table.create(connection)
    before = Table(kept, MetaData(), *(Column(c.name, c.type) for c in table.c if c.name in _OF_EVERY))
    if kind == "trial":
        before.append_column(Column("live", Boolean))
    last = ""
    while rows := connection.execute(
        select(before).where(before.c.id > last).order_by(before.c.id).limit(_AT_ONCE)
    ).mappings().all():  # fmt: skip
        connection.execute(table.insert(), [_renewed(kind, dict(old)) for old in rows])
        last = rows[-1]["id"]
    connection.execute(text(f'DROP TABLE "{kept}"'))


def set_aside(connection: Connection, table: Table) -> str:
    """Rename a table, so that one of today can be made in its place; returns the name that it has now."""
    kept = f"{table.name}_before"
    # Names of indexes, and of what stands behind a key, are one for the whole database.
    for made in inspect(connection).get_indexes(table.name):
        connection.execute(text(f'DROP INDEX "{made["name"]}"'))
    key = inspect(connection).get_pk_constraint(table.name)["name"]
    connection.execute(text(f'ALTER TABLE "{table.name}" RENAME TO "{kept}"'))
    if key:
        connection.execute(text(f'ALTER TABLE "{kept}" RENAME CONSTRAINT "{key}" TO "{kept}_pkey"'))
    return kept


def _renewed(kind: str, old: Mapping[str, Any]) -> Row:
    envelope = {"kind": kind, "schema": old["schema_version"], "body": json.loads(old["body"])}
    made = row(from_envelope(envelope), old["object"])
    return {**made, "live": old["live"]} if "live" in old else made
