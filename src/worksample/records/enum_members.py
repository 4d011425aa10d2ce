"""Conversion of a member's value, such as `"program"`, to the member of its enum. Notebooks and scripts may use
either.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from worksample.errors import UsageError

E = TypeVar("E", bound=StrEnum)


def member(kind: type[E], given: E | str, name: str) -> E:
    """Return the member of the enum `kind` for `given`, which is a member or a member's value. Raises UsageError with
    the allowed values if `given` is neither.

    `name` is the name of the parameter in the error message.
    """
    try:
        return kind(given)
    except ValueError:
        raise UsageError(f"{name}={given!r} is not allowed", next=f"one of {', '.join(kind)}") from None
