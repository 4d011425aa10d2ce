"""Types of values in a file, each with a description of what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from .config_faults import value_fault
from .toml_and_yaml_reader import WHOLE

_SIZE = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)\s*(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)", re.ASCII)
_UNITS = {
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AllowedText:
    """Description of the allowed values: metadata of a field's type, shown in faults."""

    text: str


def parse_size(text: str) -> int | None:
    """Return the bytes of a size such as `2GiB` or `500 MB`; None if it is no size."""
    match = _SIZE.fullmatch(text.strip())
    found = int(Decimal(match[1]) * _UNITS[match[2]]) if match else 0
    return found if 0 < found <= WHOLE else None


def _size(value: Any) -> Any:
    found = parse_size(value) if isinstance(value, str) else value
    if found is None or (isinstance(found, int) and found <= 0):
        raise value_fault("is not a size")
    return found


def _whole_day(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is empty")
    return text


def _once(items: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _plain(value: Any) -> Any:
    """Convert to JSON types: dates and times, which TOML and YAML have, become text."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


Line = Annotated[str, AfterValidator(_not_blank)]
"""A text that is not blank."""
Flag = Annotated[bool, Field(strict=True)]
Size = Annotated[
    int,
    BeforeValidator(_size),
    Field(strict=True, gt=0),
    AllowedText("bytes as a whole number above 0, or a text such as '2GiB' or '500MB'"),
]
Day = Annotated[
    date,
    BeforeValidator(_whole_day),
    Field(strict=True),
    AllowedText("a date such as 2026-11-01, without quotation marks"),
]
Texts = Annotated[tuple[Line, ...], AfterValidator(_once), AllowedText("a list of texts")]
"""A list of distinct texts."""
Settings = Annotated[dict[str, Any], AfterValidator(_plain)]
"""A table with any keys, as JSON types."""


def choice(words: Iterable[str]) -> str:
    """Return a pattern that matches one of the words."""
    return f"^({'|'.join(map(re.escape, words))})$"
