"""Limits of untrusted JSON: bytes, values and levels are counted before anything is built."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from worksample.errors import ForeignInputError

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[,\[\]{}]', re.DOTALL)
"""Pattern of a string, complete or cut off, or of a mark that counts values and levels."""
_OPENING, _CLOSING, _STRING = frozenset(b"[{"), frozenset(b"]}"), ord('"')


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """Limits of a JSON text."""

    size: int = 32 << 20
    """Maximum bytes."""
    values: int = 200_000
    depth: int = 128
    """Maximum depth of nested lists and objects."""


def count_values(data: bytes | bytearray) -> int:
    """Return an upper bound of the number of values in a text, from its punctuation only (also inside strings)."""
    return 1 + sum(data.count(mark) for mark in (b",", b"[", b"{"))


def read_json(data: bytes | bytearray, limits: JsonLimits = JsonLimits(), what: str = "the body") -> Any:
    """Parse JSON. Raises ForeignInputError, which names the reason: not JSON (NaN is not), not UTF-8, or a limit
    exceeded.
    """
    if len(data) > limits.size:
        raise ForeignInputError(f"{what} has {len(data)} bytes; at most {limits.size} are read", too_large=True)
    check_shape(data, limits, what)
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ForeignInputError(f"{what} is not JSON: {error}") from None


def check_shape(data: bytes | bytearray, limits: JsonLimits = JsonLimits(), what: str = "the body") -> None:
    """Raise ForeignInputError if a text has too many values or levels. Stops at the first excess."""
    opened = data.count(b"[") + data.count(b"{")
    if opened <= limits.depth and opened + data.count(b",") < limits.values:
        return
    values, depth = 1, 0
    for token in _TOKEN.finditer(data):
        mark = data[token.start()]
        if mark == _STRING:
            continue
        if mark in _CLOSING:
            depth -= 1
            continue
        values += 1
        depth += mark in _OPENING
        if depth > limits.depth:
            raise ForeignInputError(f"{what} is more than {limits.depth} levels deep", too_large=True)
        if values > limits.values:
            raise ForeignInputError(f"{what} holds more than {limits.values} values", too_large=True)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")
