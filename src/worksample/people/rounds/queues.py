"""Queues: a round's items as database rows, open, paused or closed. A lost queue is rebuilt from the round's plan."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, update

from worksample.errors import UsageError
from worksample.people.access.account import Account, Role
from worksample.people.judging import lease_queries as sql
from worksample.records import EvaluatorKind, Protocol
from worksample.store.people_tables import activity, queues

from .job_questions import Question, asks_of
from .judging_forms import PROTOCOL_OF, SPECS, Form, FormSpec, RoundKind

if TYPE_CHECKING:
    from worksample.store import Store

OPEN, PAUSED, CLOSED = "open", "paused", "closed"
STATES = (OPEN, PAUSED, CLOSED)


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue of a round."""

    round: str
    kind: RoundKind
    form: Form
    state: str
    seed: int
    instructions: str
    """Digest of the instructions."""
    rule: str
    settings: dict[str, Any]
    at: int

    @property
    def roles(self) -> frozenset[Role]:
        return frozenset(Role(r) for r in self.settings["roles"])

    @property
    def protocol(self) -> Protocol:
        """The protocol under which the round runs."""
        return Protocol(self.settings.get("protocol") or PROTOCOL_OF[self.form])

    @property
    def evaluator_kind(self) -> EvaluatorKind:
        """The kind of evaluator whose criteria are asked: people's, or those of the reviewed round."""
        return EvaluatorKind(self.settings.get("asked", EvaluatorKind.PERSON.value))

    @property
    def lease(self) -> int:
        """Length of a lease in microseconds."""
        return int(self.settings["lease_minutes"] * 60e6)

    @property
    def spec(self) -> FormSpec:
        spec = SPECS[self.form].with_reference(self.settings["reference"])
        return spec.with_questions(asks_of(self.questions)) if self.form is Form.QUALIFICATION else spec

    @property
    def questions(self) -> tuple[Question, ...]:
        """Questions about jobs in addition to the core."""
        return tuple(Question.model_validate(q) for q in self.settings.get("questions", ()))


def read_queue(row: Any) -> Queue:
    body = json.loads(row.body)
    return Queue(
        row.round, RoundKind(row.kind), Form(body["form"]), row.state, body["seed"], body["instructions"], body["rule"],
        body["settings"], row.at,
    )  # fmt: skip


def list_queues(store: Store) -> list[Queue]:
    """List all queues, by opening time."""
    with store.database.reading() as connection:
        return all_queues(connection)


def all_queues(connection: Connection) -> list[Queue]:
    """List all queues, by opening time, on an open connection."""
    return [read_queue(row) for row in connection.execute(sql.QUEUES).all()]


def find_queue(connection: Connection, round: str) -> Queue:
    """Load the queue of a round. Raises UsageError if the round is not one by people."""
    row = connection.execute(sql.QUEUE, {"round": round}).first()
    if row is None:
        raise UsageError(
            "the round does not exist, or is not judged by people", where=round, next="choose one of the list of rounds"
        )
    return read_queue(row)


def set_state(store: Store, round: str, state: str, by: Account | None = None) -> None:
    """Open, pause or close a queue. `by`: an admin, None for the store's owner. Raises Denied, UsageError.

    A paused queue offers no items; items that people have can still be submitted.
    """
    if by is not None:
        by.may(Role.ADMIN)
    if state not in STATES:
        raise UsageError(f"no such state: {state}", next=f"one of {', '.join(STATES)}")
    with store.database.writing() as connection:
        find_queue(connection, round)
        connection.execute(update(queues).where(queues.c.round == round).values(state=state))


def add_activity(
    connection: Connection, id: str, account: str, item: str | None, kind: str, text: str, at: int
) -> None:
    """Insert a row of activity."""
    row = {"id": id, "account": account, "item": item, "kind": kind, "note": text, "at": at}
    connection.execute(activity.insert().values(row))
