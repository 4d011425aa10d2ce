"""A judge's words read as an answer: one of what could be answered, with quotes that stand in the exhibits, or none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import Cause, JudgeError

from .exhibit import Exhibit, Look
from .fence import plain
from .probe import TYPES, Kind, Probe

Value = bool | str | dict[str, Any]
_BLOCK = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
SIDES = ("first", "equal", "second")
LONGEST = 10_000
"""Characters of a reason that are kept."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence. exhibit: number from 1; `checked`: a program found the text there; a picture's cannot be checked."""

    exhibit: int
    text: str
    checked: bool
    item: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """value: bool for yes_no, an option, a dict for fields and checklist, `first`/`equal`/`second` for a pair."""

    value: Value
    reason: str = ""
    quotes: tuple[Quote, ...] = ()
    record: dict[str, Any] = field(default_factory=dict)
    """What is kept: model, prompt and raw answers by digest."""


def malformed(what: str) -> JudgeError:
    return JudgeError(what, cause=Cause.JUDGE_MALFORMED)


def read_answer(text: str, probe: Probe, exhibits: Mapping[int, Exhibit]) -> Answer:
    """The answer to a probe in a completion. JudgeError (`judge.malformed`) where it is none."""
    said = _object(text)
    reason = said.get("reason", "")
    if not isinstance(reason, str):
        raise malformed("its reason is not text")
    value, quotes = _READERS[probe.kind](said, probe, exhibits)
    return Answer(value, reason[:LONGEST], quotes)


def _object(text: str) -> dict[str, Any]:
    block = _BLOCK.match(text)
    try:
        said = json.loads(block[1] if block else text, object_pairs_hook=_once, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise malformed(f"it is not a JSON object: {str(error)[:200]}: {text.strip()[:200]!r}") from error
    if not isinstance(said, dict):
        raise malformed(f"it is not a JSON object: {text.strip()[:200]!r}")
    return said


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _finite(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _among(said: Any, allowed: tuple[str, ...], where: str = "answer") -> str:
    if not isinstance(said, str) or said not in allowed:
        raise malformed(f"{where} {json.dumps(said, default=str)[:200]} is none of {', '.join(allowed)}"[:1000])
    return said


def _yes_no(said: dict[str, Any], probe: Probe, exhibits: Mapping[int, Exhibit]) -> tuple[Value, tuple[Quote, ...]]:
    yes = _among(said.get("answer"), ("yes", "no")) == "yes"
    return yes, _quote(said, probe, exhibits, needed=yes)


def _choice(said: dict[str, Any], probe: Probe, exhibits: Mapping[int, Exhibit]) -> tuple[Value, tuple[Quote, ...]]:
    allowed = SIDES if probe.kind is Kind.PAIR else probe.options
    value = _among(said.get("answer"), allowed)
    return value, _quote(said, probe, exhibits, needed=probe.kind is not Kind.PAIR)


def _fields(said: dict[str, Any], probe: Probe, exhibits: Mapping[int, Exhibit]) -> tuple[Value, tuple[Quote, ...]]:
    values = said.get("fields")
    if not isinstance(values, dict) or set(values) != set(probe.fields):
        raise malformed(f"its fields are not {', '.join(probe.fields)}")
    for name, schema in probe.fields.items():
        value = values[name]
        wanted = TYPES[schema["type"]]
        sound = isinstance(value, wanted) and (schema["type"] == "boolean" or not isinstance(value, bool))
        if not sound or (isinstance(value, float) and not math.isfinite(value)):
            raise malformed(f"field {name!r} is not of the type {schema['type']}")
        if "enum" in schema and value not in schema["enum"]:
            raise malformed(f"field {name!r} is none of {schema['enum']}"[:1000])
    return values, _quote(said, probe, exhibits, needed=True)


def _checklist(said: dict[str, Any], probe: Probe, exhibits: Mapping[int, Exhibit]) -> tuple[Value, tuple[Quote, ...]]:
    items = said.get("items")
    if not isinstance(items, dict) or set(items) != set(probe.items):
        raise malformed(f"its items are not {', '.join(probe.items)}"[:1000])
    values: dict[str, Any] = {}
    quotes: tuple[Quote, ...] = ()
    for name, item in items.items():
        if not isinstance(item, dict):
            raise malformed(f"item {name!r} is not an object")
        values[name] = _among(item.get("answer"), ("yes", "no"), name) == "yes"
        quotes += _quote(item, probe, exhibits, needed=values[name], item=name)
    return values, quotes


_READERS = {
    Kind.YES_NO: _yes_no,
    Kind.CHOICE: _choice,
    Kind.FIELDS: _fields,
    Kind.CHECKLIST: _checklist,
    Kind.PAIR: _choice,
}


def _quote(
    said: Mapping[str, Any], probe: Probe, exhibits: Mapping[int, Exhibit], *, needed: bool, item: str = ""
) -> tuple[Quote, ...]:
    """The evidence, if it is any. A picture is named by its number; a text's quote has to stand in that text."""
    if not probe.quotes:
        return ()
    number, text = said.get("exhibit"), said.get("quote") or ""
    if not isinstance(text, str) or isinstance(number, bool) or not isinstance(number, int | None):
        raise malformed("its quote is not text, or its exhibit is not a number")
    wanted = plain(text)
    readable = {n: e for n, e in exhibits.items() if e.look is not Look.PICTURE and plain(f"{e.name}\n{e.text}")}
    if number is not None and number in exhibits and exhibits[number].look is Look.PICTURE:
        return (Quote(number, text[:LONGEST], checked=False, item=item),)
    if not wanted:
        if needed and readable:
            raise malformed("it affirms without a quote" + (f" ({item})" if item else ""))
        return ()
    if not any(c.isalnum() for c in wanted):
        raise malformed(f"its quote says nothing: {text[:200]!r}")
    places = [number] if number in readable else list(readable)
    for place in places:
        exhibit = readable[place]
        if wanted in plain(f"{exhibit.name}\n{exhibit.text}"):
            return (Quote(place, text[:LONGEST], checked=True, item=item),)
    raise malformed(f"its quote stands in no exhibit: {text[:300]!r}")
