"""Bookkeeping after an evaluation: counts an item's votes and asks for one more after a tie."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from worksample.people.quality.gold_items import note_quiz
from worksample.people.rounds.job_questions import all_questions, deciding_names
from worksample.people.rounds.judging_forms import Form
from worksample.people.rounds.queues import Queue, find_queue
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Holistic,
    Labels,
    Pairwise,
    PairwiseChoice,
    ResolutionRule,
    is_accepted,
)
from worksample.results.job_suitability import votes_wanted
from worksample.results.round_evaluations import NO
from worksample.store import schema
from worksample.store.people_tables import assignments, items

from . import lease_queries as sql
from .assignment_states import RESUMABLE, STRUCK

_a, _i = assignments.c, items.c


def mark_done(connection: Connection, row: Any, evaluation: str, now: int, *, state: str = "done") -> None:
    """Mark an assignment as submitted. Idempotent."""
    mine = {"its_item": row.item, "its_account": row.account}
    done = {**mine, "now_state": state, "its_evaluation": evaluation, "until": now}
    if connection.execute(sql.FINISH, done).rowcount != 1:
        return
    if row.state in RESUMABLE:
        # The item was released in another window before the answer arrived.
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
    """Under a tie-break rule, ask for a third vote if the first two disagree (RLI B.2). Everybody answers gold items.

    For a job, ask for as many votes as its rule wants.
    """
    row = connection.execute(sql.ITEM, {"id": item}).one()
    queue = find_queue(connection, row.queue)
    if queue.form is Form.QUALIFICATION:
        _settle_job(connection, row, queue)
        return
    if queue.rule != ResolutionRule.TIE_BREAK or row.wanted >= 3:
        return
    said = [e for e in _standing(connection, row) if {e.subject, e.second} == {row.subject, row.second}]
    if len(said) >= 2 and len({_vote(e, row.subject) for e in said}) > 1:
        connection.execute(update(items).where(_i.id == item).values(wanted=3, free=_i.free + 3 - row.wanted))


def _settle_job(connection: Connection, row: Any, queue: Queue) -> None:
    """Withdraw unclaimed votes if the round now wants fewer."""
    said = _standing(connection, row)
    deciding_ones = deciding_names(all_questions(queue.questions))
    votes = [
        all(e.payload.labels.get(name) != NO for name in deciding_ones)
        for e in sorted(said, key=lambda e: (e.at, e.id)) if isinstance(e.payload, Labels)
    ]  # fmt: skip
    more = votes_wanted(ResolutionRule(queue.rule), row.wanted, votes) - row.wanted
    more = max(more, -row.free)
    if more:
        connection.execute(update(items).where(_i.id == row.id).values(wanted=row.wanted + more, free=_i.free + more))


def _standing(connection: Connection, row: Any) -> list[Evaluation]:
    """Return the unstruck evaluations of an item's sides in its round."""
    table = schema.evaluations.c
    struck = select(_a.evaluation).where(_a.item == row.id, _a.state == STRUCK, _a.evaluation.is_not(None))
    mine = (table.round == row.round) & table.subject.in_([row.subject, row.second or row.subject])
    stands = mine & (table.outcome == EvaluationOutcome.GIVEN.value) & table.id.not_in(struck)
    return [
        Evaluation.model_validate_json(body) for body in connection.execute(select(table.body).where(stands)).scalars()
    ]


_TURNED = {
    PairwiseChoice.FIRST: PairwiseChoice.SECOND,
    PairwiseChoice.EQUAL: PairwiseChoice.EQUAL,
    PairwiseChoice.SECOND: PairwiseChoice.FIRST,
}


def _vote(e: Evaluation, subject: str) -> object:
    """Return the part of a vote on which voters must agree: whether the work passes; for rubrics, every criterion; for
    pairs, both answers, with equal sides.

    A later result decides which of the two answers of a pair counts. So a difference in either answer asks for a third
    vote.
    """
    match e.payload:
        case Holistic(score=score):
            return is_accepted(score)
        case Pairwise(completion=completion, quality=quality):
            if e.subject == subject:
                return completion, quality
            return _TURNED[completion], _TURNED[quality]
        case GradePayload() as grade:
            return tuple((p.name, p.skip, p.passed) for p in grade.leaves)
        case _:
            return e.payload.type if e.payload is not None else None
