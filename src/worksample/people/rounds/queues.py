"""Queues: a round's items as rows, open or paused, and made anew from the round's plan where they are lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select, update

from worksample.errors import PlanError, UsageError
from worksample.people.access.account import Account, Role
from worksample.people.access.profile import person_of
from worksample.people.clock import Clock
from worksample.people.work import statements as sql
from worksample.records import Evaluation, EvaluatorKind, Given, Protocol, Purpose, Round
from worksample.store.people_tables import accounts, activity, assignments, items, queues

from .planning import Planned
from .protocol import PROTOCOL_OF, SPECS, Form, Kind, Spec

if TYPE_CHECKING:
    from worksample.store import Store

OPEN, PAUSED, CLOSED = "open", "paused", "closed"
STATES = (OPEN, PAUSED, CLOSED)


@dataclass(frozen=True, slots=True)
class Queue:
    """A round as it is given out."""

    round: str
    kind: Kind
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
        return SPECS[self.form].with_reference(self.settings["reference"])


def read_queue(row: Any) -> Queue:
    body = json.loads(row.body)
    return Queue(
        row.round, Kind(row.kind), Form(body["form"]), row.state, body["seed"], body["instructions"], body["rule"],
        body["settings"], row.at,
    )  # fmt: skip


def list_queues(store: Store) -> list[Queue]:
    """By the time they were opened."""
    with store.database.reading() as connection:
        return all_queues(connection)


def restock(store: Store, round: str, *, clock: Clock) -> int:
    """Make a round's queue anew where the database was lost; returns how many items came in."""
    return stock(store, store.get(Round, round), clock())


def all_queues(connection: Connection) -> list[Queue]:
    """By the time they were opened."""
    return [read_queue(row) for row in connection.execute(sql.QUEUES).all()]


def find_queue(connection: Connection, round: str) -> Queue:
    """UsageError where the round is no round by people."""
    row = connection.execute(sql.QUEUE, {"round": round}).first()
    if row is None:
        raise UsageError("no such round by people", where=round)
    return read_queue(row)


def stock(store: Store, round: Round, at: int) -> int:
    """Insert the round's queue and items from its plan, those that are missing; returns how many items came in.

    Items whose evaluations are there already are not given out again. PlanError where the round has no plan.
    """
    digest = round.versions.get("people.plan")
    if digest is None:
        raise PlanError("this round was not opened for people", where=round.id)
    plan = json.loads(store.blobs.read(digest))
    said = _said(store, {item["round"] for item in plan["items"]})
    barred = _barred(store, plan)
    with store.database.writing() as connection:
        if connection.execute(select(queues.c.round).where(queues.c.round == round.id)).first() is None:
            body = json.dumps({name: plan[name] for name in ("form", "seed", "instructions", "rule", "settings")})
            row = {"round": round.id, "kind": plan["kind"], "state": OPEN, "body": body, "at": at}
            connection.execute(queues.insert().values(row))
        return add_items(connection, round.id, plan["items"], said, barred)


def add_items(
    connection: Connection, queue: str, planned: Sequence[Planned], said: dict[Any, list[Evaluation]],
    barred: dict[str, set[str]],
) -> int:  # fmt: skip
    """Insert items that are not there. `said`: (round, both sides) -> evaluations; `barred`: subject -> accounts."""
    known = set(connection.execute(select(items.c.id).where(items.c.queue == queue)).scalars())
    people = set(connection.execute(select(accounts.c.id)).scalars())
    rows, held = [], []
    for item in planned:
        if item["id"] in known:
            continue
        done = said.get((item["round"], frozenset((item["subject"], item["second"]))), [])
        rows.append(
            {**item, "queue": queue, "free": max(0, item["wanted"] - len(done)), "withdrawn": False},
        )
        spoke = {person_of(e.evaluator): e.id for e in done}
        keep_out = (set(spoke) | barred.get(item["subject"], set()) | barred.get(item["second"] or "", set())) & people
        for account in sorted(keep_out):
            held.append(_row_of(item["id"], account, queue, spoke.get(account)))
    if rows:
        connection.execute(items.insert(), rows)
    if held:
        connection.execute(assignments.insert(), held)
    return len(rows)


def _row_of(item: str, account: str, queue: str, evaluation: str | None) -> dict[str, Any]:
    return {
        "item": item, "account": account, "queue": queue, "state": "done" if evaluation else "barred", "expires": 0,
        "started": 0, "ordinal": 0, "flipped": False, "active": 0, "evaluation": evaluation,
    }  # fmt: skip


def _said(store: Store, rounds: Iterable[str]) -> dict[Any, list[Evaluation]]:
    """What was given already: only where a queue is made anew is there any."""
    out: dict[Any, list[Evaluation]] = {}
    for round in sorted(rounds):
        for e in store.find(Evaluation, round=round, outcome=Given.GIVEN):
            out.setdefault((round, frozenset((e.subject, e.second))), []).append(e)
    return out


def _barred(store: Store, plan: dict[str, Any]) -> dict[str, set[str]]:
    """Subject -> accounts that judged it in the round that is looked at, or labelled what a judge said there: nobody
    reviews the own vote.
    """
    over = plan["settings"]["over"]
    out: dict[str, set[str]] = {}
    if over is None:
        return out
    labels = [r.id for r in store.find(Round, over=over) if r.purpose is Purpose.CALIBRATION]
    for e in store.find(Evaluation, round=[over, *labels]):
        out.setdefault(e.subject, set()).add(person_of(e.evaluator))
    return out


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
