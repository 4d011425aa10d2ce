"""Two records of one kind and id that are not equal: the same thing noted twice, or a contradiction."""

from __future__ import annotations

import json
from typing import Any

from worksample.errors import RecordConflict

_NOTED: dict[str, tuple[str, ...]] = {
    "task": ("ingested",),
    "evaluator": ("at",),
    "experiment": ("at", "author", "settings"),
}
"""Kinds whose ids say what they are, so that two machines note the same one, each at its own time; and the fields
that say when, by whom and by which command it was noted. The first is the moment."""


def agree(kind: str, one: str, other: str) -> bool:
    """Whether two bodies (canonical JSON) say the same but for how it was noted."""
    if one == other:
        return True
    if kind not in _NOTED:
        return False
    return _without(kind, one) == _without(kind, other)


def beats(kind: str, new: tuple[str, str], old: tuple[str, str]) -> bool:
    """Whether `new` counts and not `old`; each is a body and the digest of the object that holds it.

    Of two that agree the one noted earlier counts, of two that contradict each other the one in the object with the
    smaller digest: in whatever order they come, the same one.
    """
    if new[0] == old[0]:
        return False
    if agree(kind, new[0], old[0]):
        return (_moment(kind, new[0]), new[0]) < (_moment(kind, old[0]), old[0])
    return new[1] < old[1]


def conflict(kind: str, id: str) -> RecordConflict:
    next = "give one of the two an id (an experiment: a name) of its own"
    return RecordConflict(f"the store holds another {kind} with this id", where=id, next=next)


def _without(kind: str, body: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(body)
    return {name: value for name, value in plain.items() if name not in _NOTED[kind]}


def _moment(kind: str, body: str) -> str:
    return str(json.loads(body)[_NOTED[kind][0]])
