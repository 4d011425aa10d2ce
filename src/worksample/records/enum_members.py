"""Conversion to an enum's member from the member or its value, because notebooks and scripts write either."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from worksample.errors import UsageError

E = TypeVar("E", bound=StrEnum)


def member(kind: type[E], given: E | str, name: str) -> E:
    """Return the member of `kind` for a member or its value. Raises UsageError with the allowed values for anything
    else.

    `name` is the parameter's name in the error.
    """
    try:
        return kind(given)
    except ValueError:
        raise UsageError(f"{name}={given!r} is not allowed", next=f"one of {', '.join(kind)}") from None
