"""Gold items, whose right answers are known: open in a quiz, or hidden among other items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from worksample.people.clock import moment
from worksample.people.judging.assignment_states import STRUCK
from worksample.people.rounds.judging_forms import RoundKind
from worksample.people.rounds.queues import Queue, add_activity
from worksample.records import Evaluation, GradePayload, Holistic, Labels, Pairwise, Tags, digest_of, is_accepted
from worksample.store.people_tables import activity, assignments, items

if TYPE_CHECKING:
    from worksample.metrics import Estimate
    from worksample.store import Store

NEEDED = 0.85
"""Share of right answers that passes a calibration."""
_TURNED = {"first": "second", "second": "first", "equal": "equal"}


def answers_of(e: Evaluation, *, flipped: bool = False) -> dict[str, Any]:
    """Return an evaluation's answers by question. `flipped`: as if the pair had been shown the other way round."""
    match e.payload:
        case Holistic(score=score):
            return {"score": score}
        case Pairwise(completion=completion, quality=quality):
            said = {"completion": completion.value, "quality": quality.value}
            return {k: _TURNED[v] for k, v in said.items()} if flipped else said
        case Tags(tags=tags):
            return {"tags": sorted(tags)}
        case Labels(labels=labels):
            return {"finding": labels["integrity"]} if "integrity" in labels else dict(labels)
        case GradePayload(parts=parts):
            return {p.name: p.skip.value if p.skip else "pass" if p.passed else "fail" for p in parts}
        case _:
            return {}


def is_right(expected: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Return whether every expected answer was given. Scores of 2 and 3 both accept the work, so they count as
    equal.
    """
    for name, value in expected.items():
        if name == "score":
            if is_accepted(int(value)) != is_accepted(int(said.get("score", 0))):
                return False
        elif name == "tags":
            if not set(value) <= set(said.get("tags", ())):
                return False
        elif said.get(name) != value:
            return False
    return True


def compare(row: Any, evaluation: Evaluation) -> dict[str, Any]:
    """Return right, expected, said and explanation, with the sides of the gold item in whatever order they were
    shown.
    """
    gold = json.loads(row.expected)
    said = answers_of(evaluation, flipped=evaluation.subject != row.subject)
    return {
        "right": is_right(gold["answers"], said), "expected": gold["answers"], "said": said,
        "explanation": gold["explanation"],
    }  # fmt: skip


def note_quiz(connection: Connection, account: str, queue: Queue, row: Any, evaluation: Evaluation, now: int) -> None:
    """Record a gold answer; mark the calibration as passed when all items are answered and enough are right."""
    right = compare(row, evaluation)["right"]
    id = digest_of(["gold", row.id, account])[:32]
    if connection.execute(select(activity.c.id).where(activity.c.id == id)).first() is None:
        add_activity(connection, id, account, row.id, "gold.right" if right else "gold.wrong", queue.round, now)
    if queue.kind is not RoundKind.CALIBRATION:
        return
    total = connection.execute(select(items.c.id).where(items.c.queue == queue.round)).all()
    mine = (activity.c.account == account) & (activity.c.note == queue.round)
    kinds = list(connection.execute(select(activity.c.kind).where(mine)).scalars())
    answered = [k for k in kinds if k.startswith("gold.")]
    if len(answered) < len(total) or any(k.startswith("quiz.") for k in kinds):
        return
    share = answered.count("gold.right") / len(answered)
    kind = "quiz.passed" if share >= NEEDED - 1e-9 else "quiz.failed"
    add_activity(connection, digest_of(["quiz", queue.round, account])[:32], account, None, kind, queue.round, now)


@dataclass(frozen=True, slots=True)
class GoldResult:
    """A person's answers to a queue's gold items."""

    account: str
    round: str
    share: Estimate
    passed: bool | None
    """For a calibration; None until every item is answered."""
    over_time: tuple[tuple[str, bool], ...]
    """(time, right) per answer, for a chart of drift."""


def gold_results(store: Store, round: str) -> list[GoldResult]:
    """Return results per person who answered gold items of this queue, by account."""
    from worksample.metrics import rate

    with store.database.reading() as connection:
        where = activity.c.note == round
        query = select(activity).where(where).order_by(activity.c.at, activity.c.id)
        rows = connection.execute(query).all()
        lost = (assignments.c.queue == round) & (assignments.c.state == STRUCK)
        found = connection.execute(select(assignments.c.item, assignments.c.account).where(lost))
        struck = {(row.item, row.account) for row in found}
    people = sorted({row.account for row in rows if row.kind.startswith("gold.")})
    out = []
    for person in people:
        mine = [r for r in rows if r.account == person and (r.item, r.account) not in struck]
        told = [(moment(r.at).isoformat(), r.kind == "gold.right") for r in mine if r.kind.startswith("gold.")]
        ended = [r.kind == "quiz.passed" for r in mine if r.kind.startswith("quiz.")]
        share = rate([right for _, right in told], name="right on gold")
        out.append(GoldResult(person, round, share, ended[0] if ended else None, tuple(told)))
    return out
