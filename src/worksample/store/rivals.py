"""Two records of one kind and id that are not equal: the same thing noted twice, or a contradiction."""

from __future__ import annotations

import json
from typing import Any

from worksample.errors import RecordConflict

_NOTED = {"task": "ingested", "evaluator": "at"}
"""Kinds whose ids say what they are, so that two machines note the same one, each at its own time."""


def agree(kind: str, one: str, other: str) -> bool:
    """Whether two bodies (canonical JSON) say the same but for the moment at which it was noted."""
    if one == other:
        return True
    if kind not in _NOTED:
        return False
    first, second = _without(kind, one), _without(kind, other)
    return first == second


def beats(kind: str, new: tuple[str, str], old: tuple[str, str]) -> bool:
    """Whether `new` counts and not `old`; each is a body and the digest of the object that holds it.

    Of two that agree the one noted earlier counts, of two that contradict each other the one in the object with the
    smaller digest: in whatever order they come, the same one.
    """
    if new[0] == old[0]:
        return False
    if agree(kind, new[0], old[0]):
        return _moment(kind, new[0]) < _moment(kind, old[0])
    return new[1] < old[1]


def conflict(kind: str, id: str) -> RecordConflict:
    return RecordConflict(
        f"the store holds another {kind} with this id", where=id, next="give the new one an id of its own"
    )


def _without(kind: str, body: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(body)
    del plain[_NOTED[kind]]
    return plain


def _moment(kind: str, body: str) -> str:
    return str(json.loads(body)[_NOTED[kind]])
