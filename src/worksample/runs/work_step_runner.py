"""Work in steps: the agent gets one step after another in the same box, and the box is captured after each step.

If the agent fails in a step or runs out of time, it still gets the next step. If a step cannot begin, because its
`setup.sh` fails or the box is unhealthy, the work ends. Harbor has the same rules.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from worksample.errors import AgentError, Cause, SandboxError, WorksampleError
from worksample.records import Ending, StepSpec, TrialOutcome
from worksample.sandboxes.capture import StepCapture
from worksample.sandboxes.work_step_setup import prepare_step

from .trial_box import box_of
from .trial_context import TrialContext
from .trial_outcome import DONE, first_leaf, outcome_of_error, outcome_of_limit
from .trial_recorders import StepRecorder

if TYPE_CHECKING:
    from inspect_ai.solver import Generate, TaskState

    from .trial_endpoints import Supervise


MISSING = (Cause.AGENT_ABSENT, Cause.SERVICE_START)


async def run_steps(context: TrialContext, state: TaskState, generate: Generate, supervise: Supervise) -> TrialOutcome:
    """Run all steps of a trial. Return the outcome of the first step that failed, or `done`. Errors that end the whole
    trial are raised.
    """
    box, store = box_of(), context.spec.job.store
    if box is None:
        raise SandboxError("the steps cannot run: the trial has no sandbox", where="steps", next="worksample doctor")
    outcome = DONE
    steps = StepCapture(box, store.blobs, context.spec.instance, context.spec.job.config.capture)
    context.record(StepRecorder(steps))
    for number, step in enumerate(context.spec.instance.work.environment.steps):
        digest = step.files.files if step.files is not None else None
        files = None if digest is None else await asyncio.to_thread(store.folder, digest)
        if why := await supervise(prepare_step(box, step, files)):
            if number == 0:  # the agent has not worked yet
                raise SandboxError(
                    why,
                    where=f"step {step.name}",
                    next="fix the step's setup.sh or health check in the task",
                    cause=Cause.SERVICE_START,
                )
            steps.note_aborted(step.name, why)
            break
        steps.begun = step.name
        ended = await _run_step(context, step, state, generate, supervise, later=number > 0)
        await steps.capture_step()
        outcome = outcome if outcome is not DONE else ended
    return outcome


async def _run_step(
    context: TrialContext, step: StepSpec, state: TaskState, generate: Generate, supervise: Supervise, *, later: bool
) -> TrialOutcome:
    """Run one step and return its outcome.

    later: True if the agent has worked in this box in an earlier step. If a program or tool server is then missing, the
    agent is to blame.
    """
    from inspect_ai.log import transcript
    from inspect_ai.util import apply_limits, time_limit

    ended = DONE
    with apply_limits([time_limit(step.time)], catch_errors=True) as scope:
        try:
            await supervise(context.spec.job.solver(context, step)(state, generate))
        except (AgentError, SandboxError, BaseExceptionGroup) as error:
            first = first_leaf(error)
            missing = later and getattr(first, "cause", None) in MISSING
            if not (isinstance(first, AgentError) or missing):
                raise
            ended = outcome_of_error(error, list(transcript().events))
            ended = ended.replaced(cause=Cause.AGENT_CRASH) if missing else ended
    if scope.limit_error is not None:
        ended = outcome_of_limit(scope.limit_error, list(transcript().events))
        if ended.ending is Ending.FAILED:  # the model's service used up the time
            raise WorksampleError(ended.reason, where=f"step {step.name}", cause=ended.cause, next="worksample resume")
    return ended if ended is DONE else ended.replaced(reason=f"step {step.name}: {ended.reason}"[:1000])
