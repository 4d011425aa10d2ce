"""Queues: a round's items as rows, open or paused, and made anew from the round's plan where they are lost."""

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

from .forms import PROTOCOL_OF, SPECS, Form, RoundKind, Spec
from .job_questions import Question, asks_of

if TYPE_CHECKING:
    from worksample.store import Store

OPEN, PAUSED, CLOSED = "open", "paused", "closed"
STATES = (OPEN, PAUSED, CLOSED)


@dataclass(frozen=True, slots=True)
class Queue:
    """A round as it is given out."""

    round: str
    kind: RoundKind
    form: Form
    state: str
    seed: int
    instructions: str
    """Digest."""
    rule: str
    settings: dict[str, Any]
    at: int

    @property
    def roles(self) -> frozenset[Role]:
        return frozenset(Role(r) for r in self.settings["roles"])

    @property
    def protocol(self) -> Protocol:
        """Under which the round runs."""
        return Protocol(self.settings.get("protocol") or PROTOCOL_OF[self.form])

    @property
    def asked(self) -> EvaluatorKind:
        """Whose criteria are asked: people's own, or those of whom the round looks at again."""
        return EvaluatorKind(self.settings.get("asked", EvaluatorKind.PERSON.value))

    @property
    def lease(self) -> int:
        """Microseconds."""
        return int(self.settings["lease_minutes"] * 60e6)

    @property
    def spec(self) -> Spec:
        spec = SPECS[self.form].with_reference(self.settings["reference"])
        return spec.asking(asks_of(self.questions)) if self.form is Form.QUALIFICATION else spec

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is asked of jobs beside the core."""
        return tuple(Question.model_validate(q) for q in self.settings.get("questions", ()))


def read_queue(row: Any) -> Queue:
    body = json.loads(row.body)
    return Queue(
        row.round, RoundKind(row.kind), Form(body["form"]), row.state, body["seed"], body["instructions"], body["rule"],
        body["settings"], row.at,
    )  # fmt: skip


def list_queues(store: Store) -> list[Queue]:
    """By the time they were opened."""
    with store.database.reading() as connection:
        return all_queues(connection)


def all_queues(connection: Connection) -> list[Queue]:
    """By the time they were opened."""
    return [read_queue(row) for row in connection.execute(sql.QUEUES).all()]


def find_queue(connection: Connection, round: str) -> Queue:
    """UsageError where the round is no round by people."""
    row = connection.execute(sql.QUEUE, {"round": round}).first()
    if row is None:
        raise UsageError("no such round by people", where=round)
    return read_queue(row)


def set_state(store: Store, round: str, state: str, by: Account | None = None) -> None:
    """Open, pause or close a queue; `by`: an admin, None the store's owner. A paused one gives nothing out; what is
    out may be handed in. Denied, UsageError.
    """
    if by is not None:
        by.may(Role.ADMIN)
    if state not in STATES:
        raise UsageError(f"no such state: {state}", next=f"one of {', '.join(STATES)}")
    with store.database.writing() as connection:
        find_queue(connection, round)
        connection.execute(update(queues).where(queues.c.round == round).values(state=state))


def note(connection: Connection, id: str, account: str, item: str | None, kind: str, text: str, at: int) -> None:
    """A row of activity."""
    row = {"id": id, "account": account, "item": item, "kind": kind, "note": text, "at": at}
    connection.execute(activity.insert().values(row))
