"""Filling of queues: a round's items as database rows, rebuilt from the plan if they are lost."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from worksample.errors import PlanError
from worksample.people.access.evaluator_profile import person_of
from worksample.people.clock import Clock
from worksample.people.judging.assignment_states import BARRED, DONE, STRUCK
from worksample.people.judging.item_completion import settle_ties
from worksample.records import (
    Amendment,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    Purpose,
    Round,
    Submission,
    Trial,
    struck,
)
from worksample.store.people_tables import accounts, assignments, items, queues

from .item_plan import Planned
from .queues import OPEN

if TYPE_CHECKING:
    from worksample.store import Store

_MANY = 400


def fill_queue(store: Store, round: Round, at: int) -> int:
    """Insert a round's missing queue and items from its plan. Return the number of items added.

    Items that have evaluations are not offered again. Raises PlanError if the round has no plan.
    """
    digest = round.versions.get("people.plan")
    if digest is None:
        raise PlanError(
            "this round is not judged by people",
            where=round.id,
            next="worksample serve, and open a round for people in the app",
        )
    plan = json.loads(store.blobs.read(digest))
    said = earlier_evaluations(store, {item["round"] for item in plan["items"]})
    out = struck(store.find(Amendment)) if said else set()
    barred = barred_accounts(store, plan["settings"], plan["items"], round.id)
    with store.database.writing() as connection:
        if connection.execute(select(queues.c.round).where(queues.c.round == round.id)).first() is None:
            body = json.dumps({name: plan[name] for name in ("form", "seed", "instructions", "rule", "settings")})
            row = {"round": round.id, "kind": plan["kind"], "state": OPEN, "body": body, "at": at}
            connection.execute(queues.insert().values(row))
        count = add_items(connection, round.id, plan["items"], said, barred, out)
        for item in plan["items"] if said else ():
            settle_ties(connection, item["id"])
        return count


def refill_queue(store: Store, round: str, *, clock: Clock) -> int:
    """Rebuild a round's queue after the database was lost. Return the number of items added."""
    return fill_queue(store, store.get(Round, round), clock())


def add_items(
    connection: Connection, queue: str, planned: Sequence[Planned], said: dict[Any, list[Evaluation]],
    barred: dict[str, set[str]], out: Collection[tuple[AmendmentTarget, str]] = (),
) -> int:  # fmt: skip
    """Insert missing items. `said`: (round, both sides) -> evaluations; `barred`: subject -> accounts; `out`: struck
    targets, whose votes are wanted again from somebody else.
    """
    known = set(connection.execute(select(items.c.id).where(items.c.queue == queue)).scalars())
    people = set(connection.execute(select(accounts.c.id)).scalars())
    rows, held = [], []
    for item in planned:
        if item["id"] in known:
            continue
        done = said.get((item["round"], frozenset((item["subject"], item["second"]))), [])
        gone = {
            e.id
            for e in done
            if (AmendmentTarget.EVALUATION, e.id) in out or (AmendmentTarget.EVALUATOR, e.evaluator) in out
        }
        free = max(0, item["wanted"] - len(done) + len(gone))
        rows.append({**item, "queue": queue, "free": free, "withdrawn": False})
        spoke = {person_of(e.evaluator): e.id for e in done}
        keep_out = (set(spoke) | barred.get(item["subject"], set()) | barred.get(item["second"] or "", set())) & people
        for account in sorted(keep_out):
            held.append(_row_of(item["id"], account, queue, spoke.get(account), spoke.get(account) in gone))
    if rows:
        connection.execute(items.insert(), rows)
    if held:
        connection.execute(assignments.insert(), held)
    return len(rows)


def _row_of(item: str, account: str, queue: str, evaluation: str | None, gone: bool) -> dict[str, Any]:
    return {
        "item": item, "account": account, "queue": queue, "expires": 0,
        "state": STRUCK if gone else DONE if evaluation else BARRED,
        "started": 0, "ordinal": 0, "flipped": False, "active": 0, "evaluation": evaluation,
    }  # fmt: skip


def earlier_evaluations(store: Store, rounds: Iterable[str]) -> dict[Any, list[Evaluation]]:
    """Return existing evaluations by round and sides; there are some only if a queue is rebuilt."""
    out: dict[Any, list[Evaluation]] = {}
    for round in sorted(rounds):
        for e in store.find(Evaluation, round=round, outcome=EvaluationOutcome.GIVEN):
            out.setdefault((round, frozenset((e.subject, e.second))), []).append(e)
    return out


def barred_accounts(
    store: Store, settings: dict[str, Any], planned: Sequence[Planned], own: str
) -> dict[str, set[str]]:
    """Return subject -> accounts that may not judge it.

    Nobody reviews their own vote. If unchanged work is graded again, somebody else judges it. `own`: this round, in
    which one person may judge the same work in several pairs.
    """
    out: dict[str, set[str]] = {}
    if settings["over"] is not None:
        over = store.find(Round, over=settings["over"])
        labels = [r.id for r in over if r.purpose is Purpose.CALIBRATION and r.id != own]
        for e in store.find(Evaluation, round=[settings["over"], *labels]):
            out.setdefault(e.subject, set()).add(person_of(e.evaluator))
    if settings.get("again_by_others", True):
        before = _earlier_same_work(store, [item["subject"] for item in planned])
        earlier = sorted({id for ids in before.values() for id in ids})
        judged: dict[str, set[str]] = {}
        for start in range(0, len(earlier), _MANY):
            for e in store.find(Evaluation, subject=earlier[start : start + _MANY], outcome=EvaluationOutcome.GIVEN):
                judged.setdefault(e.subject, set()).add(person_of(e.evaluator))
        for subject, ids in before.items():
            out.setdefault(subject, set()).update(*(judged.get(id, ()) for id in ids))
    return out


def _earlier_same_work(store: Store, subjects: Sequence[str]) -> dict[str, list[str]]:
    """Return subject -> ids of earlier submissions of the same, unchanged work."""
    made: dict[str, str] = {}
    for start in range(0, len(subjects), _MANY):
        found = store.find(Submission, id=list(subjects[start : start + _MANY]))
        made |= {s.id: s.trial for s in found if s.trial is not None}
    same: dict[str, str] = {}
    trials = sorted(set(made.values()))
    for start in range(0, len(trials), _MANY):
        for one in store.find(Trial, id=trials[start : start + _MANY]):
            if one.fed is not None and one.fed.text is None:
                same[one.id] = one.fed.submission
    out: dict[str, list[str]] = {}
    for subject, trial in made.items():
        at = same.get(trial)
        while at is not None:
            out.setdefault(subject, []).append(at)
            source = store.get(Submission, at).trial
            earlier = store.get(Trial, source) if source else None
            at = earlier.fed.submission if earlier and earlier.fed and earlier.fed.text is None else None
    return out
