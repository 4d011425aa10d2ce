"""One submission evaluated in a round by one evaluator: leased, asked, committed once."""

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
from worksample.store.lease_renewal import renew_leases

from .evaluators import EvaluationRequest, EvaluatorReply, stored_evaluator
from .pending_evaluations import EvaluationPlace, place_of
from .program_evaluator import ProgramEvaluator

if TYPE_CHECKING:
    from worksample.store import Store

LEASE = 20.0
"""Seconds for which a place is leased; renewed while it is worked on, so that a dead process holds it no longer."""
PERIOD = 0.2
"""Seconds between two looks at a lease that another holds."""


@dataclass(frozen=True, slots=True)
class _Job:
    asked: EvaluationRequest
    place: EvaluationPlace
    before: Collection[str]
    """The evaluations that were there when it was called for."""
    wanted: Callable[[list[Evaluation]], bool]

    @property
    def store(self) -> Store:
        return self.asked.store


def lease_of(round: Round, submission: Submission, place: EvaluationPlace, second: Submission | None = None) -> str:
    """The lease under which one evaluation is made."""
    subject = f"{submission.id}+{second.id}" if second else submission.id
    return f"grade/{round.id}/{subject}/{place.by.evaluator.id}/{place.n}"


async def grade(
    store: Store, round: Round, submission: Submission, instance: Instance, *, sandbox: str = "bubblewrap"
) -> Evaluation:
    """Grade a submission by its program and commit the evaluation; what the grader does is data, never an exception.

    A submission that the program already graded in the round keeps that, and it is returned; one that another process
    is grading is waited for. Raises StoreError where the store cannot be read or written, UsageError where the round
    has no grading for the instance.
    """
    place = EvaluationPlace(ProgramEvaluator(sandbox), 1)
    done = await evaluate(store, round, submission, instance, place)
    assert done is not None, "a place that is always wanted has an evaluation"
    return done


async def evaluate(
    store: Store, round: Round, submission: Submission, instance: Instance, place: EvaluationPlace,
    wanted: Callable[[list[Evaluation]], bool] = lambda made: True, second: Submission | None = None,
) -> Evaluation | None:  # fmt: skip
    """Have one evaluation made and commit it; None where it is not `wanted` any more once the place is free.

    second: the other one of a pair.
    wanted: told the subject's evaluations in the round. What was given at the place stays and is returned, and so is
    what another process makes there meanwhile. Raises as `grade`, RecordConflict for an evaluator under another's id.
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
    # What is made under a lease that was lost is kept as mark_superseded.
    keeping = asyncio.create_task(renew_leases(store, LEASE, lambda: [lease], lambda lost: None))
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
    """An evaluation that answers the call: one given at the place, or one that came there while we waited."""
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
    """Commit it as the one that holds its place, else as one that was superseded; returns what counts at the place."""
    try:
        with job.store.fenced(lease):
            job.store.commit(evaluation)
        return evaluation
    except Superseded:
        late = mark_superseded(evaluation)
    job.store.commit(late)
    return _usable_evaluation(job, _evaluations_so_far(job.asked)) or late


def mark_superseded(evaluation: Evaluation) -> Evaluation:
    """An evaluation that another process was quicker with: what it cost and what was said stay on record."""
    said = "another process graded this while this one stood still"
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
