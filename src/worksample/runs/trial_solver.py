"""The Inspect solver of a trial: the agent works under its limits, the outcome is determined, and the trial is
closed.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import anyio

from worksample.background_services import FailureSignal
from worksample.errors import Cause, SandboxError, WorksampleError
from worksample.models.media import CURRENT as MEDIA
from worksample.models.media import MediaServices
from worksample.records import HealthSpec, Limits, StartSpec, Trial, TrialOutcome, now
from worksample.sandboxes.copied_inputs import copy_inputs
from worksample.sandboxes.health_check import health_failure
from worksample.sandboxes.services import TrialServices, open_services
from worksample.sandboxes.services.service_boxes import ServiceBox, service_boxes
from worksample.sandboxes.task_program import run_start
from worksample.stall_tolerant_loop import count_stalls
from worksample.workplace.colleagues.colleague_runner import ROLE, ColleagueRunner
from worksample.workplace.running_workplaces import open_trial_workplace
from worksample.workplace.workplace import LiveWorkplace, run_setup, services_box, task_workplace

from .trial_box import box_of
from .trial_close import close
from .trial_context import TrialContext
from .trial_endpoints import open_endpoints
from .trial_outcome import DONE, cancelled_outcome, outcome_of_error, outcome_of_limit, superseded_outcome
from .trial_recorders import BoxRecorder, ColleagueRecorder, ServiceRecorder
from .work_step_runner import run_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_ai.solver import Generate, Solver, TaskState
    from inspect_ai.util import Limit


def trial_solver(find: Callable[[str], TrialContext]) -> Solver:
    """Return an Inspect solver for samples whose ids are ids of trials. find: a function that returns the context of a
    trial.
    """
    from inspect_ai.solver import solver

    @solver(name="worksample_trial")
    def make() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            await run_trial(find(str(state.sample_id)), state, generate)
            return state

        return solve

    return make()


async def run_trial(context: TrialContext, state: TaskState, generate: Generate) -> None:
    """Let the agent work, then close the trial. An error is raised again after the trial was closed, unless the agent
    only reached a limit.
    """
    context.began = time.monotonic()
    context.started = now()
    config = context.spec.job.config
    MEDIA.set(MediaServices(lambda model: config.service(model).args, config.prices))
    context.record(BoxRecorder(context))
    context.phases["sandbox"] = round(_since_init(), 6)
    async with AsyncExitStack() as stack:
        outcome, raised = await _work(context, state, generate, stack)
        with anyio.CancelScope(shield=True):
            await close(context, state, outcome)
    if raised is not None:
        raise _writable(raised, outcome)


def _writable(error: BaseException, outcome: TrialOutcome) -> BaseException:
    """Return an error whose traceback can be written into Inspect's log. An agent's code may raise errors with any
    text.
    """
    try:
        "".join(traceback.format_exception(error)).encode()
    except UnicodeEncodeError:
        return WorksampleError(outcome.reason, cause=outcome.cause, next="see the trial's page in worksample report")
    return error


async def _work(
    context: TrialContext, state: TaskState, generate: Generate, stack: AsyncExitStack
) -> tuple[TrialOutcome, BaseException | None]:
    """Let the agent work. Return the outcome, and the error to raise after the trial was closed, or None. `stack` keeps
    the services running.
    """
    from inspect_ai._util.exception import TerminateSampleError
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError, apply_limits

    done = DONE
    try:
        environment = context.spec.instance.work.environment
        services, colleagues = None, None
        if environment.served or environment.workplace is not None:
            services, colleagues = await _serve(context, stack)
        if (box := box_of()) is not None:
            await copy_inputs(box, environment)
        if environment.start is not None:
            await _prepare_box(context, environment.start)
        limits = apply_limits(_limits(context.spec.limits), catch_errors=True)
        with context.account.current(), limits as scope, count_stalls(), anyio.CancelScope() as context.working:
            if context.lost:
                context.working.cancel()
            async with open_endpoints(context, box_of(), services, colleagues) as supervise:
                if environment.health is not None:
                    await supervise(await_health(environment.health))
                if environment.steps:
                    done = await run_steps(context, state, generate, supervise)
                else:
                    await supervise(context.spec.job.solver(context)(state, generate))
    except anyio.get_cancelled_exc_class() as error:
        return cancelled_outcome(), error
    except TerminateSampleError as error:
        return cancelled_outcome(f"ended from outside: {error}"), error
    except LimitExceededError as error:
        return outcome_of_limit(error, list(transcript().events), now(), context.account), error
    except Exception as error:  # noqa: BLE001 - the boundary of a trial: whatever is raised gets its outcome, once
        return outcome_of_error(error, list(transcript().events)), error
    if context.lost:
        return superseded_outcome(), None
    if scope.limit_error is not None:
        return outcome_of_limit(scope.limit_error, list(transcript().events), now(), context.account), None
    return done, None


async def _serve(context: TrialContext, stack: AsyncExitStack) -> tuple[TrialServices, FailureSignal | None]:
    """Start the task's services before the agent's time begins.

    Returns the services, and a signal that is set if a simulated colleague fails. The signal is None if there are no
    colleagues.
    """
    store, environment = context.spec.job.store, context.spec.instance.work.environment

    def find() -> tuple[tuple[ServiceBox, ...], LiveWorkplace | None, bool]:
        before = store.find(Trial, slot=context.spec.slot.id)
        asked = any(trial.outcome.cause is Cause.SERVICE_ASKED for trial in before)
        workplace = task_workplace(environment, store.folder, context.id)
        boxes = service_boxes(environment.served, store.folder, context.id)
        return (boxes if workplace is None else (*boxes, workplace.box)), workplace, asked

    with context.measure("services"):
        boxes, workplace, asked = await asyncio.to_thread(find)
        opening = open_services(boxes, context.spec.job.config.sandbox, asked_before=asked)
        services, colleagues = await stack.enter_async_context(opening), None
        recorder = ServiceRecorder(context, services)
        context.record(recorder)
        if workplace is not None:
            await run_setup(services, workplace)
            recorder.workplace = workplace
            if workplace.colleagues:
                runner = await stack.enter_async_context(_colleagues(context, services, workplace).run())
                context.record(ColleagueRecorder(runner))
                colleagues = runner.failure
            if workplace.players:
                names = environment.services
                await stack.enter_async_context(open_trial_workplace(context.id, services, names, workplace.players))
    context.began = time.monotonic()
    context.started = now()
    return services, colleagues


async def _prepare_box(context: TrialContext, start: StartSpec) -> None:
    """Run the task's program that prepares the box, before the agent's time begins. Raises SandboxError
    (`service.start`) if it fails.
    """
    box, store = box_of(), context.spec.job.store
    if box is None or start.files is None:
        raise SandboxError("the trial has no sandbox to prepare", where=start.entry, next="worksample doctor")
    with context.measure("start"):
        code = await asyncio.to_thread(store.folder, start.files)
        await run_start(box, start, code, sandbox=context.spec.job.config.sandbox)
    context.began = time.monotonic()
    context.started = now()


def _colleagues(context: TrialContext, services: TrialServices, workplace: LiveWorkplace) -> ColleagueRunner:
    """Return the runner of the company's simulated colleagues. Colleagues that a model plays use the model of the role
    `colleague`.
    """
    config = context.spec.job.config
    model = config.roles.get(ROLE)
    return workplace.colleague_runner(services_box(services), model, config.service(model))


def _limits(limits: Limits) -> list[Limit]:
    from inspect_ai.util import cost_limit, time_limit, token_limit

    return [time_limit(limits.time), token_limit(limits.tokens), cost_limit(limits.cost)]


def _since_init() -> float:
    """Return the seconds since the start of the sample, which is the time that the sandbox needed to start."""
    from datetime import UTC, datetime

    from inspect_ai.event import SampleInitEvent
    from inspect_ai.log import transcript

    first = next((e for e in transcript().events if isinstance(e, SampleInitEvent)), None)
    return (datetime.now(UTC) - first.timestamp).total_seconds() if first is not None else 0.0


async def await_health(spec: HealthSpec) -> None:
    """Wait until the box of the current sample is healthy. Raises SandboxError (`service.start`) if the box does not
    become healthy.
    """
    if why := await health_failure(spec, lambda: _look(spec)):
        raise SandboxError(
            why, where="environment.health", next="fix environment.health in task.toml", cause=Cause.SERVICE_START
        )


async def _look(spec: HealthSpec) -> str | None:
    """Run the health command once. Return None if the box is healthy, otherwise the output of the command."""
    from inspect_ai.util import sandbox

    try:
        done = await sandbox().exec(
            ["sh", "-c", spec.command], timeout=max(1, round(spec.timeout)), timeout_retry=False
        )
    except TimeoutError:
        return f"no answer within {spec.timeout:g} s"
    return None if done.success else (done.stdout + done.stderr).strip() or f"exit status {done.returncode}"
