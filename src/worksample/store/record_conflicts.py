"""Decision between two different records of the same kind and id: they state the same fact, or they contradict each
other.
"""

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
"""Fields that say when, by whom and with which settings a record was made, for kinds whose ids describe their content.
The first field of each kind is the time.

Two machines may make the same record at different times. Such records do not contradict each other.
"""


def records_agree(kind: str, one: str, other: str) -> bool:
    """Return whether two records are equal except for the fields that say when and how they were made. The records are
    given as canonical JSON.
    """
    if one == other:
        return True
    if kind not in _NOTED:
        return False
    return _without(kind, one) == _without(kind, other)


@dataclass(frozen=True, slots=True)
class ObjectClaim:
    """Version of a record in one object. `at` is the time at which the object was written, in microseconds since
    1970.
    """

    body: str
    at: int
    object: str


def takes_precedence(kind: str, new: ObjectClaim, old: ObjectClaim) -> bool:
    """Return whether the version `new` of a record counts instead of the version `old`.

    If the versions agree, the version that was made earlier counts. If they contradict each other, the version in the
    earlier object counts; of objects of the same time, the version in the object with the smaller digest. The order in
    which the versions arrive has no effect.
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
