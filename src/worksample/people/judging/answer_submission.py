"""Submission of people's answers. An answer becomes an Evaluation, and a skipped item becomes a declined Evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, update

from worksample.errors import Cause, RecordConflict, RecordMissing, UsageError
from worksample.fault_injection import failpoint
from worksample.models import Visibility
from worksample.people.access.account import Account
from worksample.people.access.evaluator_profile import Profile, evaluator_of
from worksample.people.access.tokens import storable
from worksample.people.clock import MINUTE, SECOND, Clock, moment
from worksample.people.errors import Conflict, InvalidAnswer
from worksample.people.judging import lease_queries as sql
from worksample.people.judging.answer_validation import read_answer
from worksample.people.judging.assignment_states import DONE, LEASED, SKIPPED
from worksample.people.judging.drafts import Drafts
from worksample.people.judging.item import criteria_of, shown_pair
from worksample.people.judging.item_completion import mark_done
from worksample.people.judging.item_leases import ItemLeases, evaluation_id, own_row
from worksample.people.quality.gold_items import compare
from worksample.people.rounds.judging_forms import RoundKind
from worksample.people.rounds.queues import Queue, find_queue
from worksample.records import EntryKind, Evaluation, EvaluationOutcome, Evaluator, Instance, Round, Submission
from worksample.results.grading_in_force import as_graded
from worksample.results.round_evaluations import FAULT
from worksample.store.people_tables import items
from worksample.viewing import find_view

if TYPE_CHECKING:
    from worksample.store import Store

_i = items.c


class AnswerSubmission:
    """Submitted answers of a store's evaluators."""

    def __init__(self, store: Store, clock: Clock, leasing: ItemLeases, drafting: Drafts, *, dates: Clock) -> None:
        self._store, self._db, self._clock, self._dates = store, store.database, clock, dates
        self._leasing, self._drafting = leasing, drafting

    def submit(
        self, item: str, account: Account, payload: Mapping[str, Any], key: str, active_seconds: float = 0.0
    ) -> Evaluation:
        """Commit the person's Evaluation of an item.

        `key`: an idempotency key; a repeated request returns the existing Evaluation. A crash at any point leaves at
        most one evaluation per person and item. Raises InvalidAnswer, Conflict if another answer is in or the lease was
        lost, NotYours.
        """
        if not key or len(key) > 200 or storable(key) != key:
            raise UsageError(
                "the key of this answer must have 1 to 200 characters", next="load the page again, then hand in"
            )
        id = evaluation_id(item, account.id)
        with self._db.reading() as connection:
            mine, row, queue = _read_rows(connection, item, account)
        if mine.state == DONE:
            return _require_same_key(self._store.get(Evaluation, id), key)
        shown = as_graded(self._store, self._store.get(Round, row.round), self._store.get(Instance, row.instance))
        criteria = criteria_of(shown, queue)
        answer, beside = read_answer(queue.form, payload, criteria, queue.questions)
        # Lease, commit and mark as done in separate transactions: the fixed id makes a crash in between harmless.
        with self._db.writing() as connection:
            now = self._clock()
            if own_row(connection, item, account).state == DONE:
                return _require_same_key(self._store.get(Evaluation, id), key)
            mine = self._leasing.renew(connection, item, account, now)
            active = self._drafting.count(connection, mine, active_seconds, now)
        blank = self._evaluation(queue, row, mine, account, active)
        record = {**blank.record, **beside, "key": key}
        if beside.get("inspected") is False and file_at_fault(self._store, (row.subject, blank.second)):
            record[FAULT] = True
        said = self._commit(
            blank.replaced(id=id, outcome=EvaluationOutcome.GIVEN, payload=answer, record=record), account
        )
        failpoint("people.said")
        with self._db.writing() as connection:
            mark_done(connection, own_row(connection, item, account), id, now)
        return _require_same_key(said, key)

    def _commit_evaluator(self, account: Account) -> None:
        """Commit the person's Evaluator record if it is missing."""
        try:
            self._store.get(Evaluator, account.evaluator)
        except RecordMissing:
            self._store.commit(evaluator_of(account.id, account.name, Profile(), self._dates()))

    def _commit(self, evaluation: Evaluation, account: Account) -> Evaluation:
        """Commit the evaluation, or return the existing one if a process died before it updated the queue."""
        self._commit_evaluator(account)
        try:
            self._store.commit(evaluation)
        except RecordConflict:
            return self._store.get(Evaluation, evaluation.id)
        return evaluation

    def _evaluation(self, queue: Queue, row: Any, mine: Any, account: Account, active: int) -> Evaluation:
        """Build the evaluation as a declined one; `submit` fills in the answer."""
        round = self._store.get(Round, row.round)
        first, second = shown_pair(row, mine.flipped)
        return Evaluation(
            id="-",
            round=row.round,
            subject=first,
            second=second,
            instance=row.instance,
            grading=round.gradings.get(row.instance, ""),
            evaluator=account.evaluator,
            outcome=EvaluationOutcome.DECLINED,
            minutes=round_minutes(active),
            author=f"person-{account.id}",
            at=moment(self._dates()),
            record={
                "item": row.id,
                "ordinal": mine.ordinal,
                "flipped": mine.flipped,
                "instructions": queue.instructions,
                "elapsed_minutes": round_minutes(self._clock() - mine.started),
            },
        )

    def skip(self, item: str, account: Account, reason: str) -> Evaluation:
        """Skip an item: commit a declined Evaluation with the reason, at the first skip of the item.

        The person does not get it again, except by `ItemLeases.take_back` while nobody else has taken it. Raises
        NotYours, Conflict.
        """
        reason = storable(reason).strip()
        if not reason:
            raise InvalidAnswer({"reason": "give a reason"})
        with self._db.writing() as connection:
            mine = self._leasing.renew(connection, item, account, self._clock())
            row = connection.execute(sql.ITEM, {"id": item}).one()
            queue = find_queue(connection, row.queue)
            if queue.kind is RoundKind.CALIBRATION:
                raise Conflict("items of a quiz cannot be skipped", next="answer the item")
        draft = self._evaluation(queue, row, mine, account, mine.active)
        evaluation = self._commit(
            draft.replaced(
                id=evaluation_id(item, account.id + " declined"), cause=Cause.PERSON_DECLINED, reason=reason[:20_000]
            ),
            account,
        )
        with self._db.writing() as connection:
            mine = own_row(connection, item, account)
            if mine.state == LEASED:
                mark_done(connection, mine, evaluation.id, self._clock(), state=SKIPPED)
                connection.execute(update(items).where(_i.id == item).values(free=_i.free + 1))
        return evaluation

    def own_answer(self, item: str, account: Account) -> Evaluation:
        """Return the person's evaluation of an item. Raises Conflict before there is one, NotYours."""
        with self._db.reading() as connection:
            mine = own_row(connection, item, account)
        if mine.evaluation is None:
            raise Conflict("you have not handed in an answer for this item yet", next="hand in an answer first")
        return self._store.get(Evaluation, mine.evaluation)

    def quiz_answer(self, item: str, account: Account) -> dict[str, Any]:
        """Return the right answer of an answered calibration item, with its reason. Raises Conflict before it is
        answered.
        """
        with self._db.reading() as connection:
            mine = own_row(connection, item, account)
            row = connection.execute(sql.ITEM, {"id": item}).one()
            hidden = row.round != row.queue
        if mine.state != DONE or row.expected is None or hidden:
            raise Conflict("the right answer of this item may not be shown now", next="take the next item")
        return compare(row, self._store.get(Evaluation, mine.evaluation))

    def earlier_votes(self, item: str, account: Account) -> list[dict[str, Any]]:
        """Return earlier votes on an adjudicated or audited deliverable, after the person's own answer is in.

        Voters are numbered, not named. Raises Conflict before that, NotYours.
        """
        with self._db.reading() as connection:
            mine, row, queue = _read_rows(connection, item, account)
        if mine.state != DONE:
            raise Conflict(
                "earlier votes are shown only after you have handed in your own", next="hand in your vote first"
            )
        # People who label a judge's work must never see the judge's answers.
        over = queue.settings["over"] if queue.settings["experiment"] is None else None
        found = self._store.find(Evaluation, round=over, subject=row.subject) if over else []
        said = [e for e in found if e.payload is not None]
        return [
            {"voter": n, "said": e.payload.plain() if e.payload else {}, "minutes": e.minutes}
            for n, e in enumerate(said, 1)
        ]


def _read_rows(connection: Connection, item: str, account: Account) -> tuple[Any, Any, Queue]:
    """Return the person's assignment row, the item's row and the queue. Raises NotYours if the person does not have the
    item.
    """
    mine = own_row(connection, item, account)
    row = connection.execute(sql.ITEM, {"id": item}).one()
    return mine, row, find_queue(connection, row.queue)


def _require_same_key(evaluation: Evaluation, key: str) -> Evaluation:
    """Return the evaluation if it was submitted under this key. Raises Conflict if it was not."""
    if evaluation.record.get("key") != key:
        raise Conflict("this item is handed in already, with another answer", next="take the next item")
    return evaluation


def round_minutes(micros: int) -> float:
    """Convert microseconds to minutes, rounded to the second."""
    return int(micros) // SECOND * SECOND / MINUTE


def file_at_fault(store: Store, submissions: Iterable[str | None]) -> bool:
    """Return whether a file of these submissions is damaged or empty, and no file was hidden for another reason.

    If a view is not stored, because the server was busy or lacks a converter, this counts as another reason.
    """
    found = False
    for id in submissions:
        part = store.get(Submission, id).parts.get("output") if id is not None else None
        if part is None:
            continue
        manifest = store.manifest(part.manifest)
        for entry in manifest.entries:
            if entry.kind is EntryKind.FOLDER:
                continue
            view = find_view(store, manifest, part.manifest, entry.path)
            if view is None or view.visibility.is_our_fault:
                return False
            found = found or view.visibility is Visibility.FILE or entry.size == 0
    return found
