"""Decide between two different records of one kind and id: the same fact noted twice, or a contradiction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from worksample.errors import RecordConflict

_NOTED: dict[str, tuple[str, ...]] = {
    "task": ("ingested",),
    "evaluator": ("at",),
    "experiment": ("at", "author", "settings"),
}
"""Fields that say when, by whom and by which command a record was noted, for kinds whose ids describe their content.

Two machines may note the same record, each at its own time. The first field is the time.
"""


def records_agree(kind: str, one: str, other: str) -> bool:
    """Return whether two bodies (canonical JSON) are equal except for the fields on when and how they were noted."""
    if one == other:
        return True
    if kind not in _NOTED:
        return False
    return _without(kind, one) == _without(kind, other)


@dataclass(frozen=True, slots=True)
class ObjectClaim:
    """One object's version of a record. `at`: when the object was written, in microseconds since 1970."""

    body: str
    at: int
    object: str


def takes_precedence(kind: str, new: ObjectClaim, old: ObjectClaim) -> bool:
    """Return whether `new` counts instead of `old`.

    If they agree, the one noted earlier counts. If they contradict each other, the one in the earlier object counts,
    then the one in the object with the smaller digest. The result does not depend on the order of arrival.
    """
    if new.body == old.body:
        return False
    if records_agree(kind, new.body, old.body):
        return (_moment(kind, new.body), new.body) < (_moment(kind, old.body), old.body)
    return (new.at, new.object) < (old.at, old.object)


def conflict(kind: str, id: str) -> RecordConflict:
    next = "give one of the two another id (for an experiment: another name)"
    return RecordConflict(f"the store already has a different {kind} with this id", where=id, next=next)


def _without(kind: str, body: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(body)
    return {name: value for name, value in plain.items() if name not in _NOTED[kind]}


def _moment(kind: str, body: str) -> str:
    return str(json.loads(body)[_NOTED[kind][0]])
