"""Versions of a rubric, and the rounds that asked them. Rows never change, so a grade keeps its criteria."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from worksample.errors import RecordMissing, UsageError
from worksample.people.access.account import Account, Role
from worksample.people.clock import Clock
from worksample.people.errors import Conflict
from worksample.people.rounds.judging_forms import BY_CRITERIA
from worksample.people.rubrics.suggestions import need_suggestions, note_taken
from worksample.records import Criteria, Instance, Round, canonical, digest_of
from worksample.store.people_tables import rubric_versions

if TYPE_CHECKING:
    from worksample.store import Store

WRITERS = (Role.ADMIN, Role.EXPERT)
"""Roles that may write rubrics (UpBench 3.4: experts do)."""
NAME = r"[a-z0-9][a-z0-9_.-]{0,99}"
LONGEST = 5000
"""Most characters of a reason."""
_v = rubric_versions.c


@dataclass(frozen=True, slots=True)
class Version:
    """A version. `number`: from 1; `digest`: of the criteria; `author`: an account's id; `at`: microseconds since
    1970.
    """

    rubric: str
    number: int
    criteria: Criteria
    digest: str
    author: str
    reason: str
    at: int


def digest_of_criteria(criteria: Criteria) -> str:
    """Return the digest that identifies criteria in rounds and versions."""
    return digest_of(criteria.plain())


def save_version(
    store: Store, by: Account, rubric: str, criteria: Criteria, *, over: int, reason: str, clock: Clock,
    suggestions: Collection[str] = (),
) -> Version:  # fmt: skip
    """Add a version after `over` (0: the first), with criteria from `suggestions`.

    Raises Denied, RecordMissing for an unknown suggestion, Conflict if somebody added a version meanwhile, UsageError
    for an invalid name, no criteria, no change, or a change without a reason.
    """
    by.may(*WRITERS)
    reason = reason.strip()[:LONGEST]
    if not re.fullmatch(NAME, rubric):
        raise UsageError(
            f"{rubric!r} cannot be the name of a rubric", next="lower case letters, digits, '-', '_' and '.'"
        )
    if not criteria.criteria:
        raise UsageError("the rubric has no criterion", next="write at least one criterion")
    if over and not reason:
        raise UsageError("the change of the rubric has no reason", next="give a reason, in a sentence")
    digest = digest_of_criteria(criteria)
    made = Version(rubric, over + 1, criteria, digest, by.id, reason, clock())
    body = canonical(criteria.plain()).decode()
    with store.database.writing() as connection:
        query = select(_v.number, _v.digest).where(_v.rubric == rubric).order_by(_v.number.desc()).limit(1)
        last = connection.execute(query).first()
        if (last.number if last else 0) != over:
            raise Conflict(
                f"the rubric has {_newest(last.number if last else 0)} now",
                next="compare your changes with it, then merge them",
            )
        if last and last.digest == digest:
            raise UsageError(
                "nothing was changed", where=rubric, next="change a criterion first, or keep the rubric as it is"
            )
        need_suggestions(connection, rubric, suggestions)
        note_taken(connection, rubric, made.number, suggestions)
        row = {"rubric": rubric, "number": made.number, "body": body, "digest": digest, "author": by.id}
        connection.execute(rubric_versions.insert().values(**row, reason=reason, at=made.at))
    return made


def _newest(number: int) -> str:
    return f"a version {number}" if number else "no version"


def versions(store: Store, rubric: str) -> list[Version]:
    """List all versions of a rubric, the latest first. Raises RecordMissing if there is none."""
    with store.database.reading() as connection:
        rows = connection.execute(select(rubric_versions).where(_v.rubric == rubric).order_by(_v.number.desc())).all()
    if not rows:
        raise RecordMissing("no such rubric", where=rubric, next="choose one of the list of rubrics")
    return [_read_row(row) for row in rows]


def newest_versions(store: Store) -> list[Version]:
    """Return the latest version of each rubric, by name."""
    last = select(_v.rubric, func.max(_v.number).label("number")).group_by(_v.rubric).subquery()
    mine = (_v.rubric == last.c.rubric) & (_v.number == last.c.number)
    with store.database.reading() as connection:
        rows = connection.execute(select(rubric_versions).join(last, mine).order_by(_v.rubric)).all()
    return [_read_row(row) for row in rows]


def _read_row(row: Any) -> Version:
    criteria = Criteria.model_validate(json.loads(row.body))
    return Version(row.rubric, row.number, criteria, row.digest, row.author, row.reason, row.at)


def asked_in_rounds(store: Store) -> dict[str, tuple[str, ...]]:
    """Return digest of criteria -> rounds that ask them, by time. A round pins its gradings, so later versions never
    reach it.
    """
    found: dict[str, dict[str, None]] = {}
    digests: dict[tuple[str, str], str] = {}
    for round in sorted(store.find(Round), key=lambda r: (r.at, r.id)):
        if round.protocol not in BY_CRITERIA:
            continue
        for instance, grading in round.gradings.items():
            key = (instance, grading)
            if key not in digests:
                digests[key] = _criteria_of(store, round, instance, grading)
            if digests[key]:
                found.setdefault(digests[key], {})[round.id] = None
    return {digest: tuple(rounds) for digest, rounds in found.items()}


def _criteria_of(store: Store, round: Round, id: str, digest: str) -> str:
    """Return the digest of an instance's criteria under this grading; "" if the store lacks that version."""
    own = store.get(Instance, id)
    for instance in (own, *store.find(Instance, key=own.key)):
        grading = instance.grading.get(round.protocol)
        if grading is not None and instance.grading_digest(round.protocol) == digest:
            return digest_of_criteria(grading.criteria)
    return ""
