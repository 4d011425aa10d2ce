"""Handing in: an answer becomes an Evaluation; skips are declined ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, update

from worksample.errors import Cause, RecordConflict, RecordMissing, UsageError, WorksampleError
from worksample.records import Criteria, Evaluation, Evaluator, Given, Instance, Round
from worksample.store.people_tables import items

from . import statements as sql
from .account import Account
from .answer import read_answer
from .clock import MINUTE, SECOND, Clock, moment
from .closing import finish
from .drafting import Drafting
from .faults import Conflict, InvalidAnswer
from .item import grading_of, shown_pair
from .leasing import Leasing, evaluation_id, own
from .profile import Profile, evaluator_of
from .protocol import Form, Kind
from .queues import Queue, find_queue
from .quiz import compare
from .recall import Recall
from .state import DONE, LEASED, SKIPPED
from .together import Together
from .tokens import storable

if TYPE_CHECKING:
    from worksample.store import Store

_i = items.c


@dataclass(frozen=True, slots=True)
class _Said:
    """An answer that is whole. `id`: of its evaluation; `row`: of items; `beside`: what is kept beside the payload."""

    id: str
    queue: Queue
    row: Any
    account: Account
    answer: Any
    beside: dict[str, Any]
    key: str
    active_seconds: float


class _Refused(Exception):
    """`error`: why an answer is not taken."""

    def __init__(self, error: WorksampleError) -> None:
        super().__init__(str(error))
        self.error = error


class Judging:
    def __init__(self, store: Store, clock: Clock, leasing: Leasing, drafting: Drafting, recall: Recall) -> None:
        self._recall = recall
        self._store, self._db, self._clock = store, store.database, clock
        self._leasing, self._drafting = leasing, drafting
        self._together = Together(self._hand_in)

    def submit(
        self, item: str, account: Account, payload: Mapping[str, Any], key: str, active_seconds: float = 0.0
    ) -> Evaluation:
        """Commit the person's Evaluation of an item.

        `key`: any text, the same when a request is sent again: then the Evaluation that is there is returned. Killed
        at whatever point, an item is judged once by a person. InvalidAnswer; Conflict where another answer is in
        already or the lease passed on; NotYours.
        """
        if not key or len(key) > 200 or storable(key) != key:
            raise UsageError("handing in needs a key of 1 to 200 characters")
        id = evaluation_id(item, account.id)
        with self._db.reading() as connection:
            mine = own(connection, item, account)
            row = sql.ITEM.one(connection, {"id": item})
            queue = find_queue(connection, row.queue)
        if mine.state == DONE:
            return _same(self._store.get(Evaluation, id), key)
        answer, beside = read_answer(queue.form, payload, self._criteria(queue, row))
        self._know(account)
        return self._together.do(_Said(id, queue, row, account, answer, beside, key, active_seconds))

    def _hand_in(self, batch: Sequence[_Said]) -> list[Evaluation | Exception]:
        """All in one transaction, unless one of them is refused: then each in its own."""
        self._store.blobs.flush()
        if len(batch) > 1:
            try:
                return list(self._commit_all(batch))
            except _Refused:
                pass
        out: list[Evaluation | Exception] = []
        for said in batch:
            try:
                out += self._commit_all([said])
            except _Refused as e:
                out.append(e.error)
        return out

    def _commit_all(self, batch: Sequence[_Said]) -> list[Evaluation]:
        """The time that was worked, the evaluation, and the queue's note of it. _Refused before anything is kept."""
        with self._db.writing() as connection:
            now = self._clock()
            try:
                made = [self._said(connection, said, now) for said in batch]
                self._store.commit_within(connection, *made)
            except RecordConflict as e:
                # The one that is there counts: a process died between its object and the queue's note of it.
                if len(batch) > 1:
                    raise _Refused(e) from e
                made = [self._kept(batch[0])]
            except UsageError as e:
                raise _Refused(e) from e
            for said in batch:
                finish(connection, own(connection, said.row.id, said.account), said.id, now)
        return made

    def _said(self, connection: Connection, said: _Said, now: int) -> Evaluation:
        """The evaluation of an item that the person holds; the one that is in, where it is the same."""
        if own(connection, said.row.id, said.account).state == DONE:
            return _same(self._store.get(Evaluation, said.id), said.key)
        mine = self._leasing.hold(connection, said.row.id, said.account, now)
        active = self._drafting.count(connection, mine, said.active_seconds, now)
        blank = self._evaluation(said.queue, said.row, mine, said.account, active)
        record = {**blank.record, **said.beside, "key": said.key}
        return blank.replaced(id=said.id, outcome=Given.GIVEN, payload=said.answer, record=record)

    def _kept(self, said: _Said) -> Evaluation:
        try:
            return _same(self._store.get(Evaluation, said.id), said.key)
        except Conflict as e:
            raise _Refused(e) from e

    def _know(self, account: Account) -> None:
        """Commit the person's Evaluator record where it is missing."""
        try:
            self._recall.get(Evaluator, account.evaluator)
        except RecordMissing:
            self._store.commit(evaluator_of(account.id, account.name, Profile(), self._clock()))

    def _commit(self, evaluation: Evaluation, account: Account) -> Evaluation:
        """The one that is there counts: a process died between the commit and the queue's note of it."""
        self._know(account)
        try:
            self._store.commit(evaluation)
        except RecordConflict:
            return self._store.get(Evaluation, evaluation.id)
        return evaluation

    def _criteria(self, queue: Queue, row: Any) -> Criteria:
        if queue.form is not Form.RUBRIC:
            return Criteria()
        grading = grading_of(self._recall.get(Instance, row.instance), queue.form)
        return grading.criteria if grading else Criteria()

    def _evaluation(self, queue: Queue, row: Any, mine: Any, account: Account, active: int) -> Evaluation:
        """All but what was said: a declined one that `submit` fills in."""
        round = self._recall.get(Round, row.round)
        first, second = shown_pair(row, mine.flipped)
        return Evaluation(
            id="-", round=row.round, subject=first, second=second, instance=row.instance,
            grading=round.gradings.get(row.instance, ""), evaluator=account.evaluator, outcome=Given.DECLINED,
            minutes=round_minutes(active), author=f"person-{account.id}", at=moment(self._clock()),
            record={
                "item": row.id, "ordinal": mine.ordinal, "flipped": mine.flipped, "instructions": queue.instructions,
                "elapsed_minutes": round_minutes(self._clock() - mine.started),
            },
        )  # fmt: skip

    def skip(self, item: str, account: Account, reason: str) -> Evaluation:
        """Leave an item to others: a declined Evaluation with the reason, the first one of each item.

        It is not given to the person again; `Leasing.take_back` has it back while nobody else has taken it. NotYours,
        Conflict.
        """
        reason = storable(reason).strip()
        if not reason:
            raise InvalidAnswer({"reason": "say why"})
        with self._db.writing() as connection:
            mine = self._leasing.hold(connection, item, account, self._clock())
            row = sql.ITEM.one(connection, {"id": item})
            queue = find_queue(connection, row.queue)
            if queue.kind is Kind.CALIBRATION:
                raise Conflict("a quiz has no items to skip")
        draft = self._evaluation(queue, row, mine, account, mine.active)
        evaluation = self._commit(
            draft.replaced(
                id=evaluation_id(item, account.id + " declined"), cause=Cause.PERSON_DECLINED, reason=reason[:20_000]
            ),
            account,
        )
        with self._db.writing() as connection:
            mine = own(connection, item, account)
            if mine.state == LEASED:
                finish(connection, mine, evaluation.id, self._clock(), state=SKIPPED)
                connection.execute(update(items).where(_i.id == item).values(free=_i.free + 1))
        return evaluation

    def answered(self, item: str, account: Account) -> Evaluation:
        """What the person said of an item, or why it was skipped. Conflict before; NotYours."""
        with self._db.reading() as connection:
            mine = own(connection, item, account)
        if mine.evaluation is None:
            raise Conflict("nothing is handed in for this item yet")
        return self._store.get(Evaluation, mine.evaluation)

    def quiz_answer(self, item: str, account: Account) -> dict[str, Any]:
        """How an answered calibration item should have been judged, and why. Conflict before it is answered."""
        with self._db.reading() as connection:
            mine = own(connection, item, account)
            row = sql.ITEM.one(connection, {"id": item})
            hidden = row.round != row.queue
        if mine.state != DONE or row.expected is None or hidden:
            raise Conflict("there is nothing to show for this item now")
        return compare(row, self._store.get(Evaluation, mine.evaluation))

    def earlier(self, item: str, account: Account) -> list[dict[str, Any]]:
        """What others said before about an adjudicated or audited deliverable: only once the own answer is in.

        Voters are numbered and have no names. Conflict before; NotYours.
        """
        with self._db.reading() as connection:
            mine = own(connection, item, account)
            row = sql.ITEM.one(connection, {"id": item})
            queue = find_queue(connection, row.queue)
        if mine.state != DONE:
            raise Conflict("decide first: earlier votes are shown once your own is in")
        over = queue.settings["over"]
        found = self._store.find(Evaluation, round=over, subject=row.subject) if over else []
        said = [e for e in found if e.payload is not None]
        return [
            {"voter": n, "said": e.payload.plain() if e.payload else {}, "minutes": e.minutes}
            for n, e in enumerate(said, 1)
        ]


def _same(evaluation: Evaluation, key: str) -> Evaluation:
    """The evaluation, where it came in under this key."""
    if evaluation.record.get("key") != key:
        raise Conflict("this item is handed in already, with another answer")
    return evaluation


def round_minutes(micros: int) -> float:
    """To the second."""
    return int(micros) // SECOND * SECOND / MINUTE
