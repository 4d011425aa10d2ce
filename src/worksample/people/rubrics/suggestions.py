"""Models' suggestions for a rubric, stored with model, prompt and cost. A suggestion alone is no version."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from worksample.errors import RecordMissing
from worksample.records import Importance, Usage
from worksample.store.people_tables import rubric_suggestions, rubric_taken

if TYPE_CHECKING:
    from worksample.store import Store

_s = rubric_suggestions.c


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion. `account`: who asked; `version`: the judge's; `prompt` and `answer`: digests; `failed`: reason for
    a failure.
    """

    id: str
    rubric: str
    account: str
    role: str
    model: str
    version: str
    prompt: str
    answer: str
    criteria: tuple[tuple[str, Importance], ...]
    failed: str
    usage: Usage
    at: int


def store_suggestion(store: Store, made: Suggestion) -> None:
    """Store a suggestion, also a failed one, because it cost money."""
    body = {
        "model": made.model, "version": made.version, "prompt": made.prompt, "answer": made.answer,
        "criteria": [[text, importance.value] for text, importance in made.criteria], "failed": made.failed,
        "usage": made.usage.plain(),
    }  # fmt: skip
    row = {"id": made.id, "rubric": made.rubric, "account": made.account, "role": made.role, "at": made.at}
    with store.database.writing() as connection:
        connection.execute(rubric_suggestions.insert().values(**row, body=json.dumps(body)))


def suggestion_usage(store: Store, role: str) -> list[Usage]:
    """Return the usage of all suggestions by a role, so that budgets hold across servers and restarts."""
    with store.database.reading() as connection:
        rows = connection.execute(select(_s.body).where(_s.role == role)).scalars().all()
    return [Usage.model_validate(json.loads(row)["usage"]) for row in rows]


def need_suggestions(connection: Connection, rubric: str, ids: Collection[str]) -> None:
    """Raise RecordMissing if one of the ids is no suggestion for this rubric."""
    query = select(_s.id).where(_s.rubric == rubric, _s.id.in_(sorted(ids)))
    missing = sorted(set(ids) - set(connection.execute(query).scalars()))
    if missing:
        raise RecordMissing(
            "the rubric has no such suggestion", where=missing[0], next="load the list of suggestions anew"
        )


def note_taken(connection: Connection, rubric: str, number: int, ids: Collection[str]) -> None:
    """Record that a version contains criteria from these suggestions."""
    rows = [{"rubric": rubric, "number": number, "suggestion": id} for id in sorted(set(ids))]
    if rows:
        connection.execute(rubric_taken.insert(), rows)


def taken_suggestions(store: Store, rubric: str) -> dict[int, list[Suggestion]]:
    """Return version -> suggestions that it took criteria from, by time."""
    joined = rubric_taken.join(rubric_suggestions, _s.id == rubric_taken.c.suggestion)
    query = select(rubric_taken.c.number, rubric_suggestions).select_from(joined).where(rubric_taken.c.rubric == rubric)
    out: dict[int, list[Suggestion]] = {}
    with store.database.reading() as connection:
        for row in connection.execute(query.order_by(_s.at, _s.id)):
            out.setdefault(row.number, []).append(_read_row(row))
    return out


def _read_row(row: Any) -> Suggestion:
    body = json.loads(row.body)
    criteria = tuple((text, Importance(importance)) for text, importance in body["criteria"])
    return Suggestion(
        row.id, row.rubric, row.account, row.role, body["model"], body["version"], body["prompt"], body["answer"],
        criteria, body["failed"], Usage.model_validate(body["usage"]), row.at,
    )  # fmt: skip
