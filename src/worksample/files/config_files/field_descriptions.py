"""Descriptions of the values that a field of a pydantic model allows, found by the field's key path."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Sequence
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .value_types import AllowedText

_CHOICE = re.compile(r"\^\(([\w|-]+)\)\$")
_NAME = re.compile(r"\^\[a-z0-9\]\[a-z0-9([^\]]+)\]\{0,(\d+)\}\$")
_TYPES: dict[Any, str] = {str: "a text", bool: "true or false", date: "a date such as 2026-11-01"}
LONGEST = 60


def show_value(value: object) -> str:
    """Return a value in the form that faults show: short, quoted, without control characters."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple | set):
        return "a list"
    text = ascii(value[:LONGEST]) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def keys_at(model: type[BaseModel], steps: Sequence[int | str]) -> list[str]:
    """Return the keys, as written in files, that the table at `steps` allows."""
    found = _model(_follow(model, steps)[0])
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def allowed_at(model: type[BaseModel], steps: Sequence[int | str]) -> str:
    """Describe the values that are allowed for the field at `steps`."""
    kind, metadata = _follow(model, steps)
    return _words(kind, metadata)


def _follow(model: type[BaseModel], steps: Sequence[int | str]) -> tuple[Any, tuple[Any, ...]]:
    kind: Any = model
    metadata: tuple[Any, ...] = ()
    for step in steps:
        kind, metadata = _step(kind, step)
    return kind, metadata


def _step(kind: Any, step: int | str) -> tuple[Any, tuple[Any, ...]]:
    kind, _ = _bare(kind)
    found = _model(kind)
    if found is not None:
        field = next((f for n, f in found.model_fields.items() if step in (n, f.alias)), None)
        return (None, ()) if field is None else (field.annotation, tuple(field.metadata))
    inner = get_args(kind)
    if not inner:
        return None, ()
    return _bare(inner[1] if get_origin(kind) is dict else inner[0])


def _bare(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its metadata and without its None, and the metadata."""
    metadata: tuple[Any, ...] = ()
    while True:
        if get_origin(kind) is Annotated:
            kind, more = get_args(kind)[0], get_args(kind)[1:]
            metadata += tuple(m for one in more for m in (one.metadata if isinstance(one, FieldInfo) else [one]))
        elif get_origin(kind) in (Union, types.UnionType):
            others = [a for a in get_args(kind) if a is not type(None)]
            if len(others) != 1:
                return kind, metadata
            kind = others[0]
        else:
            return kind, metadata


def _model(kind: Any) -> type[BaseModel] | None:
    bare, _ = _bare(kind)
    return bare if isinstance(bare, type) and issubclass(bare, BaseModel) else None


def _words(kind: Any, metadata: Iterable[Any]) -> str:
    kind, more = _bare(kind)
    marks = [*metadata, *more]
    said = next((m.text for m in marks if isinstance(m, AllowedText)), "")
    if said:
        return said
    pattern = next((p for m in marks if (p := getattr(m, "pattern", None))), "")
    if isinstance(pattern, str) and pattern:
        return _pattern(pattern)
    if kind in (int, float):
        return ("a whole number" if kind is int else "a number") + _bounds(marks)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(str(member.value) for member in kind)
    if get_origin(kind) is Literal:
        return ", ".join(map(str, get_args(kind)))
    if kind in _TYPES:
        return _TYPES[kind]
    if get_origin(kind) in (tuple, list, set, frozenset):
        return "tables, each begun with [[ ]]" if _holds_tables(kind) else "a list"
    return "a table" if _model(kind) or kind is dict or get_origin(kind) is dict else ""


def _holds_tables(kind: Any) -> bool:
    inner, _ = _bare(get_args(kind)[0]) if get_args(kind) else (None, ())
    return _model(inner) is not None or get_origin(inner) is dict


def _bounds(marks: Sequence[Any]) -> str:
    found = []
    for name, words in (("gt", "above"), ("ge", "of at least"), ("lt", "below"), ("le", "of at most")):
        bound = next((b for m in marks if (b := getattr(m, name, None)) is not None), None)
        if bound is not None:
            found.append(f" {words} {bound:g}")
    return " and".join(found)


def _pattern(pattern: str) -> str:
    """Describe a regular expression: `^(a|b)$` is a choice, the pattern of names has a description, any other is
    shown.
    """
    choice = _CHOICE.fullmatch(pattern)
    if choice:
        return ", ".join(choice[1].split("|"))
    name = _NAME.fullmatch(pattern)
    if name:
        return f"at most {int(name[2]) + 1} of a-z, 0-9 and {' '.join(name[1])}, beginning with a letter or digit"
    return f"what matches {pattern}"
