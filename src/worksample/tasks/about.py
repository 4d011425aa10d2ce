"""`[about]`: what is known of the work as work."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from worksample.errors import UsageError
from worksample.records import About, Hours, Source, Value
from worksample.taxonomy import lookup, suggest

from .table import Table

T = TypeVar("T", Value, Hours)

SOC = r"\d{2}-\d{4}"


def read_about(table: Table) -> About:
    """The table as a record; faults for unknown categories name the nearest ones."""
    category = table.text("category", "")
    if category:
        try:
            lookup(category)
        except UsageError:
            near = suggest(category)
            table.fault("category", f"there is no category {category!r}", near or "an id of docs/taxonomy.md")
            category = ""
    value = _money(table)
    hours = _hours(table)
    about = About(
        category=category,
        occupation=table.text("occupation", "", pattern=SOC, says="a SOC 2018 code such as '13-2011'"),
        value=value,
        hours=hours,
        tier=table.text("tier", "", pattern=r"[a-z0-9][a-z0-9._-]*", says="a name in lower case, such as 'easy'"),
        licence=table.text("licence", ""),
        provenance=table.text("provenance", ""),
        tags=table.texts("tags"),
    )
    table.done()
    return about


def _range(table: Table) -> dict[str, Any] | None:
    low, high = table.number("low", required=True), table.number("high", required=True)
    day = table.day("date")
    source = table.text("source", choices=[s.value for s in Source])
    if low is not None and high is not None and high < low:
        table.fault("high", f"{high:g} is below low ({low:g})")
        return None
    if low is None or high is None or day is None or not source:
        return None
    return {"low": low, "high": high, "date": day, "source": source}


def _money(table: Table) -> Value | None:
    if not table.has("value"):
        return None
    inner = table.table("value")
    found = _range(inner)
    currency = inner.text("currency", "USD", pattern="[A-Z]{3}", says="a code of three capitals, such as USD")
    inner.done()
    return _made(Value, inner, found and {**found, "currency": currency})


def _hours(table: Table) -> Hours | None:
    if not table.has("hours"):
        return None
    inner = table.table("hours")
    found = _range(inner)
    inner.done()
    return _made(Hours, inner, found)


def _made(kind: type[T], table: Table, fields: dict[str, Any] | None) -> T | None:
    if not fields:
        return None
    try:
        return kind(**fields)
    except ValidationError as error:
        table.faults.add(table.file, table.at, error.errors()[0]["msg"])
        return None
