"""The solver of a trial: the agent works under its limits, the ending is told, the trial is closed."""

from __future__ import annotations

import asyncio
import time
import traceback
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import anyio

from worksample.errors import Cause, WorksampleError
from worksample.records import Limits, Trial, TrialOutcome, now
from worksample.sandboxes.services import TrialServices, open_services
from worksample.sandboxes.services.service_boxes import ServiceBox, service_boxes
from worksample.steady_loop import count_stalls
from worksample.workplace.colleagues.colleague_runner import ROLE, ColleagueRunner
from worksample.workplace.running_workplaces import open_trial_workplace
from worksample.workplace.workplace import LiveWorkplace, run_setup, services_box, task_workplace

from .close import close
from .endpoints import reaching
from .health import healthy
from .outcome import DONE, cancelled, ended_by_error, ended_by_limit, superseded
from .steps import through_steps
from .trial_box import box_of
from .tries import TrialContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_ai.solver import Generate, Solver, TaskState
    from inspect_ai.util import Limit


def trial_solver(find: Callable[[str], TrialContext]) -> Solver:
    """An Inspect solver for samples whose ids are tries' ids."""
    from inspect_ai.solver import solver

    @solver(name="worksample_trial")
    def make() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            await run_trial(find(str(state.sample_id)), state, generate)
            return state

        return solve

    return make()


async def run_trial(try_: TrialContext, state: TaskState, generate: Generate) -> None:
    """Let the agent work, then close. What ended the work other than its own limits is raised again afterwards."""
    try_.began = time.monotonic()
    try_.started = now()
    try_.phases["sandbox"] = round(_since_init(), 6)
    async with AsyncExitStack() as stack:
        outcome, raised = await _endeavour(try_, state, generate, stack)
        with anyio.CancelScope(shield=True):
            await close(try_, state, outcome)
    if raised is not None:
        raise _writable(raised, outcome)


def _writable(error: BaseException, outcome: TrialOutcome) -> BaseException:
    """An error whose traceback can be written into the run's log: an agent's code may raise any text."""
    try:
        "".join(traceback.format_exception(error)).encode()
    except UnicodeEncodeError:
        return WorksampleError(outcome.reason, cause=outcome.cause, next="worksample report, the trial's page")
    return error


async def _endeavour(
    try_: TrialContext, state: TaskState, generate: Generate, stack: AsyncExitStack
) -> tuple[TrialOutcome, BaseException | None]:
    """How the work ended, and what is to be raised again once the trial is closed. Services stand on the stack."""
    from inspect_ai._util.exception import TerminateSampleError
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError, apply_limits

    done = DONE
    try:
        environment = try_.instance.work.environment
        if environment.served or environment.workplace is not None:
            await _serve(try_, stack)
        limits = apply_limits(_limits(try_.limits), catch_errors=True)
        with try_.account.current(), limits as scope, count_stalls(), anyio.CancelScope() as try_.working:
            if try_.lost:
                try_.working.cancel()
            async with reaching(try_, box_of()) as during:
                if environment.health is not None:
                    await during(healthy(environment.health))
                if environment.steps:
                    done = await through_steps(try_, state, generate, during)
                else:
                    await during(try_.job.solver(try_)(state, generate))
    except anyio.get_cancelled_exc_class() as error:
        return cancelled(), error
    except TerminateSampleError as error:
        return cancelled(f"ended from outside: {error}"), error
    except LimitExceededError as error:
        return ended_by_limit(error, list(transcript().events), now(), try_.account), error
    except Exception as error:  # noqa: BLE001 - the boundary of a trial: whatever is raised gets its outcome, once
        return ended_by_error(error, list(transcript().events)), error
    if try_.lost:
        return superseded(), None
    if scope.limit_error is not None:
        return ended_by_limit(scope.limit_error, list(transcript().events), now(), try_.account), None
    return done, None


async def _serve(try_: TrialContext, stack: AsyncExitStack) -> None:
    """Start the task's services; the agent's time begins after that."""
    store, environment = try_.job.store, try_.instance.work.environment

    def find() -> tuple[tuple[ServiceBox, ...], LiveWorkplace | None, bool]:
        before = store.find(Trial, slot=try_.slot.id)
        asked = any(trial.outcome.cause is Cause.SERVICE_ASKED for trial in before)
        workplace = task_workplace(environment, store.folder, try_.id)
        boxes = service_boxes(environment.served, store.folder, try_.id)
        return (boxes if workplace is None else (*boxes, workplace.box)), workplace, asked

    with try_.timed("services"):
        boxes, workplace, asked = await asyncio.to_thread(find)
        services = open_services(boxes, try_.job.config.sandbox, asked_before=asked)
        try_.services = await stack.enter_async_context(services)
        if workplace is not None:
            await run_setup(try_.services, workplace)
            try_.workplace = workplace
            if workplace.colleagues:
                try_.attending = await stack.enter_async_context(_attending(try_, try_.services, workplace).run())
            if workplace.players:
                names = environment.services
                await stack.enter_async_context(open_trial_workplace(try_.id, try_.services, names, workplace.players))
    try_.began = time.monotonic()
    try_.started = now()


def _attending(try_: TrialContext, services: TrialServices, workplace: LiveWorkplace) -> ColleagueRunner:
    """The colleagues of the task's company; who is played by a model is by that of the role."""
    config = try_.job.config
    model = config.roles.get(ROLE)
    return workplace.colleague_runner(services_box(services), model, config.service(model))


def _limits(limits: Limits) -> list[Limit]:
    from inspect_ai.util import cost_limit, time_limit, token_limit

    return [time_limit(limits.time), token_limit(limits.tokens), cost_limit(limits.cost)]


def _since_init() -> float:
    """Seconds since the sample was begun: what its sandbox took to start."""
    from datetime import UTC, datetime

    from inspect_ai.event import SampleInitEvent
    from inspect_ai.log import transcript

    first = next((e for e in transcript().events if isinstance(e, SampleInitEvent)), None)
    return (datetime.now(UTC) - first.timestamp).total_seconds() if first is not None else 0.0
