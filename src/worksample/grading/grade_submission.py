"""The evaluation of one submission: take a lease, ask the evaluator, and commit the answer exactly once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.errors import Cause, Superseded
from worksample.fault_injection import failpoint
from worksample.records import CaptureStatus, Evaluation, EvaluationOutcome, Instance, Round, Submission, now
from worksample.results.grading_in_force import grading_in_force
from worksample.store.lease import Lease
from worksample.store.lease_owner import new_owner
from worksample.store.lease_renewal import renew_lease

from .evaluators import EvaluationRequest, EvaluatorReply, stored_evaluator
from .pending_evaluations import EvaluationPlace, place_of
from .program_evaluator import ProgramEvaluator

if TYPE_CHECKING:
    from worksample.store import Store

LEASE = 20.0
"""Duration of a lease in seconds. The lease is renewed during the work, so that a stopped process loses it soon."""
PERIOD = 0.2
"""Seconds between two attempts to take a lease that another process holds."""


@dataclass(frozen=True, slots=True)
class _Job:
    asked: EvaluationRequest
    place: EvaluationPlace
    before: Collection[str]
    """Ids of the evaluations that existed when this job began."""
    wanted: Callable[[list[Evaluation]], bool]

    @property
    def store(self) -> Store:
        return self.asked.store


def lease_of(round: Round, submission: Submission, place: EvaluationPlace, second: Submission | None = None) -> str:
    """Return the name of the lease that a process must hold to make this evaluation."""
    subject = f"{submission.id}+{second.id}" if second else submission.id
    return f"grade/{round.id}/{subject}/{place.by.evaluator.id}/{place.n}"


async def grade(
    store: Store, round: Round, submission: Submission, instance: Instance, *, sandbox: str = "bubblewrap"
) -> Evaluation:
    """Grade a submission with its task's program, and commit the evaluation. Errors of the grader become part of the
    evaluation and are never raised.

    If the program has already graded the submission in this round, return that evaluation. If another process is
    grading it, wait for the result. Raises StoreError if the store cannot be read or written; UsageError if the round
    has no grading for the instance.
    """
    place = EvaluationPlace(ProgramEvaluator(sandbox), 1)
    done = await evaluate(store, round, submission, instance, place)
    assert done is not None, "evaluate returns None only for an evaluation that is no longer wanted"
    return done


async def evaluate(
    store: Store, round: Round, submission: Submission, instance: Instance, place: EvaluationPlace,
    wanted: Callable[[list[Evaluation]], bool] = lambda made: True, second: Submission | None = None,
) -> Evaluation | None:  # fmt: skip
    """Make one evaluation and commit it. Return None if the evaluation is no longer needed when the lease becomes free.

    If the evaluation exists, or another process makes it in the meantime, return that evaluation. second: the second
    submission of a pair. wanted: a function that gets the existing evaluations of the subject and returns whether
    another one is needed. Raises the errors of `grade`; RecordConflict if the evaluator's id belongs to another
    evaluator.
    """
    grading = await asyncio.to_thread(grading_in_force, store, round, instance)
    asked = EvaluationRequest(store, round, submission, instance, grading, place.n, second)
    before = {e.id for e in await asyncio.to_thread(_evaluations_so_far, asked)}
    job = _Job(asked, place, before, wanted)
    key, owner = lease_of(round, submission, place, second), new_owner()
    while True:
        done = _usable_evaluation(job, await asyncio.to_thread(_evaluations_so_far, asked))
        if done is not None:
            return done
        lease = await asyncio.to_thread(store.take, key, owner, LEASE)
        if lease is not None:
            break
        await asyncio.sleep(PERIOD)
    # An evaluation made under a lost lease is kept as superseded.
    keeping = asyncio.create_task(renew_lease(store, LEASE, lease))
    try:
        made = await asyncio.to_thread(_evaluations_so_far, asked)
        done = _usable_evaluation(job, made)
        if done is not None:
            return done
        return await _ask_evaluator(job, lease) if wanted(made) else None
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await asyncio.to_thread(store.release, key, owner)


def _evaluations_so_far(asked: EvaluationRequest) -> list[Evaluation]:
    second = asked.second.id if asked.second else None
    found = asked.store.find(Evaluation, round=asked.round.id, subject=asked.submission.id)
    return [e for e in found if e.second == second]


def _usable_evaluation(job: _Job, made: list[Evaluation]) -> Evaluation | None:
    """Return an evaluation that already answers the request: a given one, or one that another process made while this
    process waited.
    """
    here = [e for e in made if place_of(e) == job.place.key]
    given = [e for e in here if e.outcome is EvaluationOutcome.GIVEN]
    fresh = [e for e in here if e.id not in job.before]
    return given[-1] if given else (fresh[-1] if fresh else None)


async def _ask_evaluator(job: _Job, lease: Lease) -> Evaluation:
    failpoint("grade.begin")
    part = job.asked.submission.parts.get("output")
    if part is None or part.status is CaptureStatus.ABSENT:
        reason = part.reason if part is not None else "the submission has no output"
        answer = EvaluatorReply(cause=Cause.CAPTURE_FAILED, reason=reason)
    else:
        answer = await job.place.by.evaluate(job.asked)
    failpoint("grade.graded")
    evaluation = await asyncio.to_thread(_evaluation, job, answer)
    failpoint("grade.commit")
    evaluation = await asyncio.to_thread(_keep_evaluation, job, evaluation, lease)
    failpoint("grade.committed")
    return evaluation


def _keep_evaluation(job: _Job, evaluation: Evaluation, lease: Lease) -> Evaluation:
    """Commit the evaluation, and return the evaluation that counts.

    If this process has lost its lease, the evaluation is committed as superseded, and the other process's evaluation
    counts.
    """
    try:
        with job.store.fence(lease):
            job.store.commit(evaluation)
        return evaluation
    except Superseded:
        late = mark_superseded(evaluation)
    job.store.commit(late)
    return _usable_evaluation(job, _evaluations_so_far(job.asked)) or late


def mark_superseded(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation marked as superseded, because another process made it, too. Its cost and its record are
    preserved.
    """
    said = "another process graded this while this one was stopped"
    return evaluation.replaced(outcome=EvaluationOutcome.FAILED, payload=None, cause=Cause.SUPERSEDED, reason=said)


def _evaluation(job: _Job, answer: EvaluatorReply) -> Evaluation:
    asked = job.asked
    return Evaluation(
        id=uuid.uuid4().hex,
        round=asked.round.id,
        subject=asked.submission.id,
        second=asked.second.id if asked.second is not None else None,
        instance=asked.instance.id,
        grading=asked.grading.digest,
        evaluator=stored_evaluator(job.store, job.place.by.evaluator).id,
        outcome=EvaluationOutcome.GIVEN if answer.payload is not None else EvaluationOutcome.FAILED,
        payload=answer.payload,
        cause=answer.cause,
        reason=answer.reason[:20_000],
        minutes=answer.minutes,
        cost=answer.cost,
        record={**answer.record, **({"n": asked.n} if asked.n > 1 else {})},
        author=asked.round.author,
        at=now(),
    )
