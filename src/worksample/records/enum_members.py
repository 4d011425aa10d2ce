"""A member of an enum, also by its word: what notebooks and scripts write."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from worksample.errors import UsageError

E = TypeVar("E", bound=StrEnum)


def member(kind: type[E], given: E | str, name: str) -> E:
    """The member of `kind` that is given, or that is called so. UsageError with the allowed words for any other.

    `name`: of the parameter, as the error calls it.
    """
    try:
        return kind(given)
    except ValueError:
        raise UsageError(f"{name} is {given!r}", next=f"one of {', '.join(kind)}") from None
