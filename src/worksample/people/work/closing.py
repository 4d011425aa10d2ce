"""What follows from an evaluation that is in: the item's votes are counted, and a tie asks for one more."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from worksample.people.quality.gold_items import note_quiz
from worksample.people.rounds.queues import find_queue
from worksample.records import Evaluation, Given, Grade, Holistic, Pairwise, Rule, Side, is_accepted
from worksample.store import schema
from worksample.store.people_tables import items

from . import statements as sql
from .assignment_states import RESUMABLE

_i = items.c


def finish(connection: Connection, row: Any, evaluation: str, now: int, *, state: str = "done") -> None:
    """Mark an assignment as handed in. Doing it twice changes nothing."""
    mine = {"its_item": row.item, "its_account": row.account}
    done = {**mine, "now_state": state, "its_evaluation": evaluation, "until": now}
    if connection.execute(sql.FINISH, done).rowcount != 1:
        return
    if row.state in RESUMABLE:
        # Given back in another window while the answer was on its way.
        connection.execute(update(items).where(_i.id == row.item, _i.free > 0).values(free=_i.free - 1))
    connection.execute(sql.NO_DRAFT, mine)
    item = connection.execute(sql.ITEM, {"id": row.item}).one()
    if item.expected is not None and state == "done":
        table = schema.evaluations
        body = connection.execute(select(table.c.body).where(table.c.id == evaluation)).scalar_one()
        said = Evaluation.model_validate_json(body)
        note_quiz(connection, row.account, find_queue(connection, item.queue), item, said, now)
    settle_ties(connection, row.item)


def settle_ties(connection: Connection, item: str) -> None:
    """Under a tie-break rule, ask for a third vote where the first two disagree (RLI B.2). Everybody answers gold."""
    row = connection.execute(sql.ITEM, {"id": item}).one()
    queue = find_queue(connection, row.queue)
    if queue.rule != Rule.TIE_BREAK or row.wanted >= 3:
        return
    table = schema.evaluations
    same = (table.c.round == row.round) & (table.c.subject.in_([row.subject, row.second or row.subject]))
    bodies = connection.execute(select(table.c.body).where(same & (table.c.outcome == Given.GIVEN.value))).scalars()
    said = [
        e for e in map(Evaluation.model_validate_json, bodies) if {e.subject, e.second} == {row.subject, row.second}
    ]
    if len(said) >= 2 and len({_vote(e, row.subject) for e in said}) > 1:
        connection.execute(update(items).where(_i.id == item).values(wanted=3, free=_i.free + 3 - row.wanted))


_TURNED = {Side.FIRST: Side.SECOND, Side.EQUAL: Side.EQUAL, Side.SECOND: Side.FIRST}


def _vote(e: Evaluation, subject: str) -> object:
    """What two votes have to agree on: passing; of a rubric every criterion; for pairs both answers, seen from the same
    side.

    Which of the two answers will count is known only once it is known who succeeded, so a difference in either asks
    for a third vote.
    """
    match e.payload:
        case Holistic(score=score):
            return is_accepted(score)
        case Pairwise(completion=completion, quality=quality):
            if e.subject == subject:
                return completion, quality
            return _TURNED[completion], _TURNED[quality]
        case Grade() as grade:
            return tuple((p.name, p.skip, p.passed) for p in grade.leaves)
        case _:
            return e.payload.type if e.payload is not None else None
