"""Agents that are Python objects and run outside the box: solvers and agents of Inspect, and async functions."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.asyncio_task_containment import contain, is_signal
from worksample.errors import AgentError, Cause, SandboxError, WorksampleError
from worksample.models import failure_of
from worksample.models.fault_attribution import ControlQuestion
from worksample.models.storable_text import scrub

from .harness_settings import ObjectSettings, WorkerSettings
from .prompt import brief_text
from .prompt_digest import record_digest
from .prompt_parts import folder_text
from .python_agent_assignment import Assignment
from .python_objects import find_object, is_inspects, make_agent
from .workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model
    from inspect_ai.solver import Generate, Solver, TaskState


def check_object(settings: ObjectSettings) -> None:
    """Check the object of an agent. Raises PlanError if the object cannot be found or is not an agent."""
    make_agent(find_object(settings.object, settings.source), settings.args)


def in_python(model: Model | None, workspace: Workspace, settings: ObjectSettings, inputs: Path | None) -> Solver:
    """Return a solver that lets the Python object work. The object's model calls count as steps."""
    from inspect_ai.solver import solver
    from inspect_ai.util import turn_limit

    value = find_object(settings.object, settings.source)
    works = make_agent(value, settings.args)
    inspects = is_inspects(value)

    @solver(name="object")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.messages = [_first(workspace, inputs, whole=inspects)]
            with turn_limit(workspace.limits.turns):
                try:
                    if inspects:
                        done: TaskState = await _run_agent_code(_solver(works)(state, generate), model)
                        return done
                    await _run_agent_code(works(Assignment(workspace, state, model)), model)
                finally:
                    _make_sound(state)
            return state

        return solve

    return build()


def _make_sound(state: TaskState) -> None:
    """Remove all values from the state that cannot be stored. An agent may have put any value into the state."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.model._chat_message import ChatMessageBase

    said = state.messages if isinstance(state.messages, Iterable) else ()
    state.messages = [message for message in said if isinstance(message, ChatMessageBase)]
    scrub(state.messages)
    if not isinstance(state.output, ModelOutput):
        state.output = ModelOutput()


def _first(workspace: Workspace, inputs: Path | None, *, whole: bool) -> ChatMessage:
    """Return the first message with the brief. With `whole`, the message also has the deliverables and folders, for a
    model that gets no other message.
    """
    from inspect_ai.model import ChatMessageUser

    text = workspace.instance.work.brief
    if whole:
        text = f"{brief_text(workspace, WorkerSettings(), inputs)}\n\n{folder_text(workspace)}"
    record_digest({"messages": [text]})
    return ChatMessageUser(content=text, source="input")


def _solver(works: Any) -> Solver:
    from inspect_ai.agent import as_solver, is_agent

    return as_solver(works) if is_agent(works) else works


async def _run_agent_code(work: Awaitable[Any], model: Model | None) -> Any:
    """Run the agent's own code and return its result. Raises AgentError if the code raises an exception.

    Limits, a lost box and a failed model service are not failures of the agent, even if the agent's code wraps them in
    a group of exceptions. Their errors are raised instead.
    """
    result, failed = await contain(work)
    if failed is None:
        return result
    if is_signal(failed):
        raise failed
    raise await _what_ends_it(failed, model)


async def _what_ends_it(error: BaseException, model: Model | None) -> BaseException:
    """Return the error that ends the trial after the agent's code raised `error`. This is one of the errors within
    `error`, or an error of the platform.
    """
    from inspect_ai._util.exception import TerminateSampleError
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError
    from inspect_ai.util._sandbox.environment import SandboxUnavailableError

    leaves = _leaves(error)
    for leaf in leaves:
        if isinstance(leaf, LimitExceededError | TerminateSampleError | WorksampleError) or is_signal(leaf):
            return leaf
        if isinstance(leaf, SandboxUnavailableError):
            return _with_causes(error, SandboxError(str(leaf), next="worksample resume"))
    for leaf in leaves:
        failure = failure_of(leaf, list(transcript().events))
        if failure is None:
            continue
        if failure.cause is Cause.MODEL_REFUSED and model is not None and await ControlQuestion(model).answers():
            return _with_causes(error, AgentError(failure.reason, cause=Cause.AGENT_REJECTED))
        return leaf
    return _with_causes(error, AgentError(f"{type(leaves[0]).__name__}: {_words(leaves[0])}"))


def _with_causes(error: BaseException, ours: WorksampleError) -> WorksampleError:
    ours.__cause__ = error
    return ours


def _leaves(error: BaseException) -> list[BaseException]:
    """Return the single errors within an error that may be a nested group."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def _words(error: BaseException) -> str:
    """Return the text of an error from untrusted code; "" if the error has no text."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an agent's own code
        return "(no text available)"
