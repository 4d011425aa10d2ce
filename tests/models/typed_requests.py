"""Requests made from the providers' own types: one for every parameter that a client package lets a program set."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import types
import typing
from collections.abc import Iterator
from typing import Any

import typing_extensions
from pydantic import BaseModel

DEEPEST = 7
MISSING: Any = object()


@dataclasses.dataclass(frozen=True)
class Case:
    """A value, and the same without the one parameter that `path` names; MISSING where there is no such value."""

    path: tuple[str, ...]
    value: Any
    without: Any = MISSING


def cases(hint: Any, depth: int = 0) -> Iterator[Case]:
    """Values of a type, such that every key of every object in it is set in one of them."""
    hint = _bare(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        for one in args:
            if one is not type(None):
                yield from cases(one, depth)
    elif origin is typing.Literal:
        yield from (Case((), value) for value in dict.fromkeys((args[0], args[-1])))
    elif origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        for one in cases(args[0], depth):
            yield Case(one.path, [one.value], MISSING if one.without is MISSING else [one.without])
    elif origin in (dict, collections.abc.Mapping):
        yield from (Case((), {"1": one.value}) for one in cases(args[1], depth + 1))
    elif typing_extensions.is_typeddict(hint):
        yield from _of_dict(hint, depth)
    else:
        yield Case((), _plain(hint))


def simplest(hint: Any, depth: int = 0) -> Any:
    """One value of a type."""
    return next(cases(hint, depth), Case((), "x")).value


def _of_dict(hint: Any, depth: int) -> Iterator[Case]:
    hints = typing_extensions.get_type_hints(hint, include_extras=True)
    needed = [key for key, inner in hints.items() if _needed(inner, total=hint.__total__)]
    if depth >= DEEPEST:
        yield Case((), {key: simplest(hints[key], depth + 1) for key in needed if not _nested(hints[key])})
        return
    base = {key: _fitting(key, simplest(hints[key], depth + 1)) for key in needed}
    yield Case((), base)
    for key, inner in hints.items():
        for one in cases(inner, depth + 1):
            one = dataclasses.replace(one, value=_fitting(key, one.value))
            if one.without is not MISSING:
                yield Case((key, *one.path), base | {key: one.value}, base | {key: one.without})
            elif key not in needed:
                yield Case((key,), base | {key: one.value}, base)
            else:
                yield Case((key,), base | {key: one.value})


PICTURE = "iVBORw0KGgo="
FITTING = {
    "data": PICTURE, "file_data": f"data:application/pdf;base64,{PICTURE}", "description": "about",
    "image_url": f"data:image/png;base64,{PICTURE}", "url": f"data:image/png;base64,{PICTURE}",
}  # fmt: skip


def _fitting(key: str, value: Any) -> Any:
    """Text that says something under its key."""
    return FITTING.get(key, value) if value == "x" else value


def _needed(hint: Any, *, total: bool) -> bool:
    """Whether a key must be given: told by its type, since types that are written as text keep no list of them."""
    origin = typing.get_origin(hint)
    return origin is typing.Required or (total and origin is not typing.NotRequired)


def _nested(hint: Any) -> bool:
    return typing_extensions.is_typeddict(_bare(hint))


def _bare(hint: Any) -> Any:
    while typing.get_origin(hint) in (typing.Required, typing.NotRequired, typing.Annotated):
        hint = typing.get_args(hint)[0]
    name = getattr(hint, "__name__", "")
    if name in ("Required", "NotRequired"):
        return typing.get_args(hint)[0]
    return getattr(hint, "__value__", hint)


def _plain(hint: Any) -> Any:
    samples: dict[Any, Any] = {
        str: "x", int: 2, float: 0.5, bool: True, bytes: "eA==", object: {"type": "object"}, Any: "x",
        datetime.datetime: "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return samples.get(hint, "x")


def fields(model: type[BaseModel], depth: int = 0) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The same for a package whose types are pydantic's: a path, and the arguments that set it."""
    for name, field in model.model_fields.items():
        for path, value in _field_values(field.annotation, depth):
            yield (name, *path), {name: value}


def _field_values(hint: Any, depth: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        known = [
            one for one in args if one is not type(None) and typing.get_origin(one) is not collections.abc.Callable
        ]
        for one in known:
            yield from _field_values(one, depth)
    elif origin is list:
        yield from ((path, [value]) for path, value in _field_values(args[0], depth))
    elif origin is dict:
        yield (), {"k": "x"}
    elif isinstance(hint, type) and issubclass(hint, BaseModel):
        if depth < 3:
            yield from fields(hint, depth + 1)
    elif isinstance(hint, type) and hasattr(hint, "__members__"):
        yield (), list(hint.__members__.values())[-1].value
    elif isinstance(hint, type):
        yield (), b"x" if hint is bytes else _plain(hint)
    else:
        yield (), "x"
