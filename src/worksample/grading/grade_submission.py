"""One submission graded in a round: leased, run in a box, committed once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample import __version__
from worksample.errors import POLICY, CaptureError, Cause, RecordConflict, RecordMissing, StoreFull
from worksample.fault_injection import reach
from worksample.records import (
    CaptureStatus,
    Evaluation,
    Evaluator,
    EvaluatorKind,
    Given,
    Grading,
    Instance,
    Round,
    Submission,
    now,
)
from worksample.store.owner import new_owner

from .boxes import grading_boxes
from .rounds import grading_in_force
from .run_grader import Ended, run_grader

if TYPE_CHECKING:
    from worksample.store import Store

TRIES = 2
"""How often a grading is begun where the sandbox, and not the grader, failed."""
LEASE = 20.0
"""Seconds for which a subject is leased; renewed while it is graded, so that a dead process holds it no longer."""
PERIOD = 0.2
"""Seconds between two looks at a lease that another holds."""


@dataclass(frozen=True, slots=True)
class _Job:
    store: Store
    round: Round
    submission: Submission
    instance: Instance
    grading: Grading
    sandbox: str


async def grade(
    store: Store, round: Round, submission: Submission, instance: Instance, *, sandbox: str = "bubblewrap"
) -> Evaluation:
    """Grade a submission in a round and commit the evaluation; what the grader does is data, never an exception.

    A submission that already has a given evaluation in the round keeps it, and that one is returned; one that another
    process is grading is waited for. Where the sandbox fails it is tried once more. Raises StoreError where the store
    cannot be read or written, UsageError where the round has no grading for the instance.
    """
    grading = await asyncio.to_thread(grading_in_force, store, round, instance)
    job = _Job(store, round, submission, instance, grading, sandbox)
    before = {e.id for e in await asyncio.to_thread(_made, job)}
    key, owner = f"grade/{round.id}/{submission.id}", new_owner()
    while True:
        done = _ready(await asyncio.to_thread(_made, job), before)
        if done is not None:
            return done
        if await asyncio.to_thread(store.lease, key, owner, LEASE):
            break
        await asyncio.sleep(PERIOD)
    keeping = asyncio.create_task(_keep(store, key, owner))
    try:
        done = _ready(await asyncio.to_thread(_made, job), before)
        return done if done is not None else await _grade(job)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await asyncio.to_thread(store.release, key, owner)


async def _keep(store: Store, key: str, owner: str) -> None:
    """Renew a lease until cancelled.

    One that was lost stays lost: the subject is then graded twice, and the latest given evaluation counts.
    """
    while await asyncio.sleep(LEASE / 4, result=True):
        await asyncio.to_thread(store.renew, key, owner, LEASE)


def _made(job: _Job) -> list[Evaluation]:
    return job.store.find(Evaluation, round=job.round.id, subject=job.submission.id)


def _ready(made: list[Evaluation], before: Collection[str]) -> Evaluation | None:
    """An evaluation that answers the call: a given one, or one that came while we waited."""
    given = [e for e in made if e.outcome is Given.GIVEN]
    fresh = [e for e in made if e.id not in before]
    return given[-1] if given else (fresh[-1] if fresh else None)


async def _grade(job: _Job) -> Evaluation:
    reach("grade.begin")
    ended, tries = Ended(), 0
    while tries < TRIES:
        tries += 1
        ended = await _once(job)
        if ended.cause is None or not POLICY[ended.cause].retry:
            break
    reach("grade.graded")
    evaluation = await asyncio.to_thread(_evaluation, job, ended, tries)
    reach("grade.commit")
    await asyncio.to_thread(job.store.commit, evaluation)
    reach("grade.committed")
    return evaluation


async def _once(job: _Job) -> Ended:
    part = job.submission.parts.get("output")
    if part is None or part.status is CaptureStatus.ABSENT:
        reason = part.reason if part is not None else "the submission has no output"
        return Ended(cause=Cause.CAPTURE_FAILED, reason=reason)
    try:
        place = await asyncio.to_thread(grading_boxes, job.store, job.submission, job.instance, job.grading)
    except StoreFull:
        raise
    except (RecordMissing, CaptureError) as error:
        return Ended(cause=Cause.STORE_ERROR, reason=str(error))
    return await run_grader(place, job.grading, job.store.blobs, sandbox=job.sandbox)


def _evaluation(job: _Job, ended: Ended, tries: int) -> Evaluation:
    record = {"tries": tries, "sandbox": job.sandbox, "kit": __version__, **ended.record}
    return Evaluation(
        id=uuid.uuid4().hex,
        round=job.round.id,
        subject=job.submission.id,
        instance=job.instance.id,
        grading=job.grading.digest,
        evaluator=program(job.store).id,
        outcome=Given.GIVEN if ended.grade is not None else Given.FAILED,
        payload=ended.grade,
        cause=ended.cause,
        reason=ended.reason[:20_000],
        record=record,
        author=job.round.author,
        at=now(),
    )


def program(store: Store) -> Evaluator:
    """The evaluator that programs are; one per version of the platform."""
    id = f"program@{__version__}"
    try:
        return store.get(Evaluator, id)
    except RecordMissing:
        evaluator = Evaluator(id=id, name="program", type=EvaluatorKind.PROGRAM, version=__version__, at=now())
    try:
        store.commit(evaluator)
    except RecordConflict:
        # Another process was quicker; its record differs in the moment only.
        return store.get(Evaluator, id)
    return evaluator
