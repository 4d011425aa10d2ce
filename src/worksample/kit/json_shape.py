"""Shapes of JSON values. A grader states the structure that it relies on, and the value is checked before it is
read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worksample.errors import Cause, GraderError

from .source import FileOwner

_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def require_shape(value: Any, like: Any, owner: FileOwner, at: str = "") -> None:
    """Raise an error if `value` does not have the shape `like`. The error is the one of the file's owner, so that the
    right side is blamed.

    like: a type (`str`, `int`, `float` for any number, `bool`, `list`, `dict`), None for any value, a tuple of
    alternative shapes, a list with one shape for all items, or a mapping from required keys to shapes. at: the place of
    `value` in the file, for the error message. Raises GraderError if `like` is not a shape.
    """
    if like is None:
        return
    place = at or "the value"
    if isinstance(like, tuple):
        _any(value, like, owner, at)
    elif isinstance(like, Mapping):
        _type(value, dict, owner, place)
        for key, inner in like.items():
            if key not in value:
                raise owner.fault(f"{place} has no {key!r}", where=owner.name)
            require_shape(value[key], inner, owner, f"{at}.{key}" if at else str(key))
    elif isinstance(like, list):
        _type(value, list, owner, place)
        for i, item in enumerate(value):
            require_shape(item, like[0] if like else None, owner, f"{at}[{i}]")
    elif like in _WORDS:
        _type(value, like, owner, place)
    else:
        raise GraderError(
            f"{like!r} is not a shape",
            cause=Cause.GRADER_CRASH,
            next="use str, int, float, bool, list, dict, None, or a tuple, list or mapping of these",
        )


def _any(value: Any, options: tuple[Any, ...], owner: FileOwner, at: str) -> None:
    faults = []
    for option in options:
        try:
            return require_shape(value, option, owner, at)
        except owner.fault as error:
            faults.append(error)
    raise (
        faults[0]
        if faults
        else GraderError("the list of shapes is empty", cause=Cause.GRADER_CRASH, next="pass at least one shape")
    )


def _type(value: Any, kind: type, owner: FileOwner, place: str) -> None:
    kinds: tuple[type, ...] = (int, float) if kind is float else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise owner.fault(f"{place} is {repr(value)[:60]}, not {_WORDS[kind]}", where=owner.name)
