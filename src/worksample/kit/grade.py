"""The result of a grader: a tree of named parts, with the fields of the record that stores the grade.

These classes are plain dataclasses, because a grader process starts about three times faster without pydantic. A
clearly valid value is accepted as it is. Any other value is passed to `worksample.records.grade`, which converts or
rejects the value, so that all rules are in one module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Literal, Self, TypeVar

from worksample.records.grade_tree import GradeTree, Importance, PartNode, SkipReason

REASON_LIMIT = 20_000
"""Maximum number of characters of a reason. A grade with a longer reason is rejected."""
_WHOLE = 1 << 53
"""The number 2^53. Every integer with a smaller absolute value has an exact float."""

T = TypeVar("T", bound="_Value")


class _Value:
    """Base class of `Grade` and `GradePart`: a value that is built from keyword arguments, as records are."""

    __slots__ = ()

    def plain(self) -> dict[str, Any]:
        """Return the value as JSON types, in the same form as the record."""
        return {name: _plain(value) for name, value in self._fields().items() if name != "at" or value is not None}

    def replaced(self, **changes: Any) -> Self:
        """Return a copy with some fields changed. The copy is validated."""
        return type(self)(**{**self._fields(), **changes})

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _is_sound(self) -> bool:
        raise NotImplementedError


def _validated_by_record(cls: type[T]) -> type[T]:
    """Decorate a dataclass, so that the record with the same fields validates each value that is not clearly valid."""
    take = cls.__init__
    numbers = {field.name for field in fields(cls) if str(field.type).startswith("float")}  # type: ignore[arg-type]

    @wraps(take)
    def __init__(self: T, **given: Any) -> None:
        told = {name: _exact(value) if name in numbers else value for name, value in given.items()}
        try:
            take(self, **told)
            sound = self._is_sound()
        except TypeError:  # an unknown field, or a missing one
            sound = False
        if not sound:
            take(self, **_read_by_record(cls, given))

    cls.__init__ = __init__  # type: ignore[assignment]
    return cls


def _exact(value: Any) -> Any:
    return float(value) if type(value) is int and -_WHOLE < value < _WHOLE else value


def _read_by_record(cls: type[_Value], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields after the record converted them. Raises pydantic's ValidationError if the record rejects the
    fields.
    """
    from worksample.records import grade

    record: Any = (grade.GradePayload if cls is Grade else grade.PartPayload)(**given)
    return {name: _own_parts(value) if name == "parts" else value for name, value in dict(record).items()}


def _own_parts(parts: tuple[Any, ...]) -> tuple[GradePart, ...]:
    return tuple(GradePart(**{**dict(part), "parts": _own_parts(part.parts)}) for part in parts)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [part.plain() for part in value]
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, Importance | SkipReason) else value


def _is_text(value: Any, limit: float = math.inf) -> bool:
    """Return whether `value` is a text of at most `limit` characters, without lone surrogates."""
    return type(value) is str and len(value) <= limit and (value.isascii() or _encodes(value))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _are_parts(value: Any) -> bool:
    return type(value) is tuple and all(type(part) is GradePart for part in value)


@_validated_by_record
@dataclass(frozen=True, slots=True, kw_only=True)
class GradePart(PartNode, _Value):
    """The result of one criterion. `fraction` is the share of its `points` that was earned, from 0 to 1. `fraction` is
    None if the criterion was skipped.
    """

    name: str
    points: float = 1.0
    fraction: float | None = None
    importance: Importance | None = None
    gate: bool = False
    reason: str = ""
    skip: SkipReason | None = None
    at: datetime | None = None
    """The time at which the work earned the points; None if the work does not show this time."""
    parts: tuple[GradePart, ...] = ()

    def _is_sound(self) -> bool:
        share = self.fraction
        return (
            _is_text(self.name)
            and _is_text(self.reason, REASON_LIMIT)
            and (type(self.points) is float and 0 < self.points < math.inf)
            and (share is None or (type(share) is float and 0 <= share <= 1))
            and (self.importance is None or type(self.importance) is Importance)
            and (self.skip is None or type(self.skip) is SkipReason)
            and (share is None) == (self.skip is not None)
            and (self.at is None or (type(self.at) is datetime and self.at.tzinfo is UTC))
            and type(self.gate) is bool
            and _are_parts(self.parts)
        )


@_validated_by_record
@dataclass(frozen=True, slots=True, kw_only=True)
class Grade(GradeTree, _Value):
    """A grade with a `score` from 0 to 1. A composition computes the score from the parts."""

    type: Literal["grade"] = "grade"
    score: float
    parts: tuple[GradePart, ...] = ()
    composition: str = ""
    reason: str = ""

    def _is_sound(self) -> bool:
        return (
            self.type == "grade"
            and (type(self.score) is float and 0 <= self.score <= 1)
            and _is_text(self.composition)
            and _is_text(self.reason, REASON_LIMIT)
            and _are_parts(self.parts)
        )
