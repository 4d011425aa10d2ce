"""A work in steps: the agent is told one after the other in one box, and what is there after each is taken in.

An agent that fails in a step, or has no time left for it, is told the next one all the same. A step that cannot be
begun (its `setup.sh` fails, its box is not well) ends the work. That is how Harbor does it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from worksample.errors import AgentError, Cause, SandboxError, WorksampleError
from worksample.records import Ending, StepSpec, TrialOutcome
from worksample.sandboxes.capture import StepCapture
from worksample.sandboxes.step_setup import prepare_step

from .outcome import DONE, ended_by_error, ended_by_limit, leaf
from .trial_box import box_of
from .tries import TrialContext

if TYPE_CHECKING:
    from inspect_ai.solver import Generate, TaskState

    from .endpoints import During


MISSING = (Cause.AGENT_ABSENT, Cause.SERVICE_START)


async def through_steps(try_: TrialContext, state: TaskState, generate: Generate, during: During) -> TrialOutcome:
    """How the first step ended in which something failed, else that all is done. What ends the trial is raised."""
    box, store = box_of(), try_.job.store
    if box is None:
        raise SandboxError("there was no sandbox", where="steps")
    outcome = DONE
    try_.steps = StepCapture(box, store.blobs, try_.instance, try_.job.config.capture)
    for number, step in enumerate(try_.instance.work.environment.steps):
        digest = step.files.files if step.files is not None else None
        files = None if digest is None else await asyncio.to_thread(store.folder, digest)
        if why := await during(prepare_step(box, step, files)):
            if number == 0:  # nobody had done anything yet
                raise SandboxError(why, where=f"step {step.name}", cause=Cause.SERVICE_START)
            try_.steps.note_aborted(step.name, why)
            break
        try_.steps.begun = step.name
        ended = await _worked(try_, step, state, generate, during, later=number > 0)
        await try_.steps.capture_step()
        outcome = outcome if outcome is not DONE else ended
    return outcome


async def _worked(
    try_: TrialContext, step: StepSpec, state: TaskState, generate: Generate, during: During, *, later: bool
) -> TrialOutcome:
    """How a step's work ended. later: the agent has worked in this box before, so that what is missing there from then
    on (its own program, a server of tools) is of its own making."""
    from inspect_ai.log import transcript
    from inspect_ai.util import apply_limits, time_limit

    ended = DONE
    with apply_limits([time_limit(step.time)], catch_errors=True) as scope:
        try:
            await during(try_.job.solver(try_, step)(state, generate))
        except (AgentError, SandboxError, BaseExceptionGroup) as error:
            first = leaf(error)
            missing = later and getattr(first, "cause", None) in MISSING
            if not (isinstance(first, AgentError) or missing):
                raise
            ended = ended_by_error(error, list(transcript().events))
            ended = ended.replaced(cause=Cause.AGENT_CRASH) if missing else ended
    if scope.limit_error is not None:
        ended = ended_by_limit(scope.limit_error, list(transcript().events))
        if ended.ending is Ending.FAILED:  # the time went to the model's service
            raise WorksampleError(ended.reason, where=f"step {step.name}", cause=ended.cause)
    return ended if ended is DONE else ended.replaced(reason=f"step {step.name}: {ended.reason}"[:1000])
