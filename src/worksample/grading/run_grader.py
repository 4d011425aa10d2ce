"""The run of a grader in a box, and its result: a grade, or a failure with a cause."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from worksample.background_services import supervise
from worksample.box import Box, Completed, Endpoint, FairTimeout
from worksample.errors import Cause, GraderError, JudgeError, SandboxError
from worksample.files import Sink
from worksample.files.config_files import describe_errors
from worksample.kit.grade_check import require_agreement
from worksample.models import Roles
from worksample.records import GradePayload, Grading, Usage
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import Target, serve_endpoints
from worksample.sandboxes.python_toolbox import platform_python
from worksample.sandboxes.request_broker import SOCKET, RequestBroker
from worksample.sandboxes.services import TrialServices, open_services
from worksample.sandboxes.starved_programs import starvation_reason

from .grading_boxes import DELIVERED, RESULT, SCRATCH, GraderLimits, GradingBoxes
from .judge_requests import GraderQuestions
from .program_requests import ProgramRequests
from .verifier_requests import VerifierRequests

RESULT_LIMIT = 16 << 20
"""Maximum size of a grader's result file, in bytes."""
_CORRECT = "correct grade.py, then worksample task check FOLDER"
TAIL = 64 << 10
"""Number of bytes that are stored from the end of each output stream of a grader."""


@dataclass(frozen=True, slots=True)
class GraderEnd:
    """The result of a grader's run: `grade`, or `cause` and `reason` of a failure. `record` is stored with the
    evaluation.
    """

    grade: GradePayload | None = None
    cause: Cause | None = None
    reason: str = ""
    record: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    """Usage of the judges that the grader asked, by role."""

    @property
    def cost(self) -> float | None:
        """Return the cost of all judges that the grader asked, in US dollars. Return None if it asked none, or if no
        price is known.
        """
        costs = [used.cost for used in self.usage.values() if used.cost is not None]
        return sum(costs) if costs else None


async def run_grader(
    place: GradingBoxes, grading: Grading, sink: Sink, *, sandbox: str, roles: Roles | None = None
) -> GraderEnd:
    """Run the grader once. Failures of the grader or of its box are returned, never raised.

    roles: the judges that the grader may ask. If a judge does not answer a question, the grade is not accepted.
    """
    broker = RequestBroker({})
    asks = GraderQuestions(roles or {}, broker.records)
    ended = await _run_and_read(place, grading, sink, sandbox, broker, asks)
    if asks.failed is not None and ended.cause is not Cause.GRADER_SANDBOX:
        # If a judge did not answer, the judge failed, not the grader, whether the grader then scored or crashed.
        ended = replace(ended, grade=None, **_judge_failure(asks.failed))
    if asks.usage:
        kept = {name: used.plain() for name, used in asks.usage.items()}
        ended = replace(ended, usage=asks.usage, record={**ended.record, "usage": kept})
    return ended


def _judge_failure(error: JudgeError) -> dict[str, Any]:
    return {"cause": error.cause, "reason": str(error)}


async def _run_and_read(
    place: GradingBoxes, grading: Grading, sink: Sink, sandbox: str, broker: RequestBroker, asks: GraderQuestions
) -> GraderEnd:
    limits = GraderLimits.of(grading.settings)
    runs = ProgramRequests(place.running, sandbox, sink, limits.timeout, broker.records)
    verifies = VerifierRequests(place.verifying, sandbox, sink, limits.timeout, broker.records)
    broker.verbs = {"run": runs.run, "ask": asks.ask, "verify": verifies.verify}
    try:
        async with _services(place, sandbox) as services, open_box(place.grading, kind=sandbox) as box:
            await box.write(f"{SCRATCH}/case.json", json.dumps(_case(grading)).encode())
            if place.grading.writable:
                await _copy_submission(box, place)
            async with serve_endpoints(box, _targets(place, services)):
                work = _run_with_broker(box, _command(place), broker, limits.timeout)
                done = await supervise(work, *((services.failure,) if services is not None else ()))
            data = await _result(box)
    except SandboxError as error:
        return GraderEnd(cause=Cause.GRADER_SANDBOX, reason=str(error), record=await _record_of(None, broker, sink))
    except OSError as error:
        reason = f"the grading sandbox cannot be filled: {error.strerror}"
        return GraderEnd(cause=Cause.GRADER_SANDBOX, reason=reason, record=await _record_of(None, broker, sink))
    record = await _record_of(done, broker, sink)
    try:
        return GraderEnd(grade=grade_from_result(done, data, grading, limits), record=record)
    except GraderError as error:
        return GraderEnd(cause=error.cause, reason=error.what, record=record)


async def _copy_submission(box: Box, place: GradingBoxes) -> None:
    """Copy the submission to the folder in which the grader may write. Raises SandboxError if the copy fails."""
    [target] = place.grading.writable
    done = await box.run(["cp", "-R", f"{DELIVERED}/.", target])
    if done.returncode:
        what = f"the submission cannot be copied: {done.stderr.decode('utf-8', 'replace').strip()[-500:]}"
        raise SandboxError(what, where="grade", next="free disk space on this machine, then grade again")


@asynccontextmanager
async def _services(place: GradingBoxes, sandbox: str) -> AsyncIterator[TrialServices | None]:
    """Start the workplace's services for the grader. The grader's time limit begins after the start. Yields None if the
    grader needs no services.
    """
    if place.workplace is None:
        yield None
        return
    async with open_services((place.workplace.box,), sandbox) as services:
        yield services


def _targets(place: GradingBoxes, services: TrialServices | None) -> dict[Endpoint, Target]:
    if services is None:
        return {}
    return {one: services.target(place.behind[one]) for one in place.grading.endpoints}


async def _run_with_broker(box: Box, command: list[str], broker: RequestBroker, timeout: float) -> Completed:
    """Run the grader together with its broker. The time in which the grader waits for an answer of the broker, or for a
    processor, does not count towards the time limit.
    """
    limit = FairTimeout(timeout)
    broker.pausing = partial(box.hold, limit)
    serving = asyncio.create_task(broker.serve(await box.listen(SOCKET)))
    running = asyncio.create_task(box.run(command, timeout=limit))
    try:
        return await running
    finally:
        for task in (running, serving):
            task.cancel()
        await asyncio.gather(running, serving, return_exceptions=True)


def _case(grading: Grading) -> dict[str, Any]:
    return {
        "entry": grading.entry,
        "settings": {**grading.settings, **grading.instance_settings},
        "criteria": grading.criteria.plain(),
    }


def _command(place: GradingBoxes) -> list[str]:
    """Return the command that starts the grader. Paths are separate arguments, so that a box without mounts can
    translate them.
    """
    named = {**place.folders, "result": f"{RESULT}/result.json", "broker": SOCKET}
    words = [f"{name}={path}" for name, path in named.items()]
    return [platform_python(), "-P", "-m", "worksample.kit", f"{SCRATCH}/case.json", *words]


async def _result(box: Box) -> bytes | None:
    """Return the content of the grader's result file; None if the file cannot be read."""
    try:
        return await box.read(f"{RESULT}/result.json", RESULT_LIMIT)
    except OSError:
        return None


def grade_from_result(done: Completed, data: bytes | None, grading: Grading, limits: GraderLimits) -> GradePayload:
    """Return the grade in a grader's result file. Raises GraderError with a cause if the grader failed or its result is
    not a valid grade.
    """
    tail = done.stderr[-2_000:].decode("utf-8", "replace").strip()
    if done.truncated:
        raise GraderError(
            "the grader printed more than is allowed", cause=Cause.GRADER_OUTPUT,
            next="print less in grade.py, then worksample task check FOLDER",
        )  # fmt: skip
    if done.oom:
        raise GraderError(
            f"the grader needed more than {limits.memory:,} bytes of memory", cause=Cause.GRADER_MEMORY,
            next="raise memory of [grading.PROTOCOL] in task.toml, then worksample task check FOLDER",
        )  # fmt: skip
    if done.starved:
        raise GraderError(
            starvation_reason(done),
            cause=Cause.GRADER_SANDBOX,
            next="stop other programs on this machine, then grade again",
        )
    if done.timed_out:
        raise GraderError(
            f"the grader did not end within {limits.timeout:g} seconds", cause=Cause.GRADER_TIME,
            next="raise timeout of [grading.PROTOCOL] in task.toml, then worksample task check FOLDER",
        )  # fmt: skip
    if data is None and done.returncode:
        raise GraderError(
            f"the grader ended with exit code {done.returncode} and without a result\n{tail}", next=_CORRECT
        )
    if data is None:
        raise GraderError("the grader ended without a result", cause=Cause.GRADER_MALFORMED, next=_CORRECT)
    try:
        result = json.loads(data)
        failed = result.get("failed") if isinstance(result, dict) else None
        if failed is not None:
            raise GraderError(str(result.get("reason", ""))[:15_000], cause=Cause(failed), next=_CORRECT)
        grade = GradePayload.model_validate(result["grade"])
        require_agreement(grade, grading.criteria)
        return grade
    except ValidationError as error:
        raise GraderError(
            f"the grader's result is not a grade: {describe_errors(error, GradePayload)[:500]}",
            cause=Cause.GRADER_MALFORMED,
            next=_CORRECT,
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise GraderError(
            f"the grader's result is not a grade: {str(error)[:500]}", cause=Cause.GRADER_MALFORMED, next=_CORRECT
        ) from error


async def _record_of(done: Completed | None, broker: RequestBroker, sink: Sink) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if done is not None:
        record |= {"exit": done.returncode, "seconds": round(done.seconds, 3)}
        for name, data in _streams(done).items():
            if data:
                record[name] = await asyncio.to_thread(sink.put, data[-TAIL:])
    if broker.records:
        record["runs"] = broker.records
    return record


def _streams(done: Completed) -> dict[str, bytes]:
    return {"stdout": done.stdout, "stderr": done.stderr}
