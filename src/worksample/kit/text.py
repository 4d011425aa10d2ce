"""Readers of text and JSON files, with limits on the size."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from worksample.files.tables.encodings import marked_encoding

from .source import Fields, FileOwner, UnreadableSource, read_bytes

TEXT_LIMIT = 16 << 20
"""Maximum size of a text file in bytes."""
JSON_LIMIT = 8 << 20
"""Maximum size of a JSON file in bytes."""
JSON_DEPTH = 200
"""Maximum depth of nested lists and objects in a JSON file."""


def decode(data: bytes) -> tuple[str, str]:
    """Decode bytes and return the text and the name of the encoding.

    A byte order mark decides the encoding. UTF-16 without such a mark is recognised by the first bytes. Otherwise the
    encoding is UTF-8. Bytes that are not valid in this encoding are read as Latin-1.
    """
    name = marked_encoding(data[: 1 << 12]) or "utf-8"
    try:
        return data.decode(name), name
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def read_text(path: Path, limit: int = TEXT_LIMIT) -> str:
    r"""Return the text of a file, with line ends as `\n`. Raises UnreadableSource if the file has more than `limit`
    bytes or contains NUL bytes.
    """
    text, _ = decode(read_bytes(path, limit))
    if "\0" in text:
        raise UnreadableSource("is not text: it holds NUL bytes")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _no_constant(name: str) -> NoReturn:
    raise UnreadableSource(f"holds {name}, which JSON does not allow")


def parse_json(text: str, owner: FileOwner | None = None) -> Any:
    """Parse strict JSON. Raises UnreadableSource if the text is not JSON, contains NaN or infinity, or has more than
    `JSON_DEPTH` levels.

    owner: the owner of the file. If an object lacks a key that the grader reads, the owner's error is raised.
    """
    hook = None if owner is None else partial(Fields, owner=owner)
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer, object_hook=hook)
    except json.JSONDecodeError as error:
        raise UnreadableSource(f"is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise UnreadableSource("is nested too deeply") from error
    _measure(value)
    return value


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise UnreadableSource(f"holds {text[:40]}, which is too large for a number")
    return value


def _integer(text: str) -> int:
    if len(text) > 308:  # every shorter integer can be converted to a float
        raise UnreadableSource("holds a number of more than 308 digits")
    return int(text)


def _measure(value: Any) -> None:
    level = [value]
    for _ in range(JSON_DEPTH):
        inner: list[Any] = []
        for v in level:
            if isinstance(v, dict):
                inner.extend(v.values())
            elif isinstance(v, list):
                inner.extend(v)
        if not inner:
            return
        level = inner
    raise UnreadableSource(f"is nested deeper than {JSON_DEPTH} levels")


def read_json(path: Path, owner: FileOwner | None = None, limit: int = JSON_LIMIT) -> Any:
    """Return the value of a JSON file. Raises UnreadableSource if the file has more than `limit` bytes or is not strict
    JSON (see `parse_json`).
    """
    return parse_json(decode(read_bytes(path, limit))[0], owner)
