"""Agents that are Python objects on our side of the box: Inspect's solvers and agents, and async functions."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.errors import AgentError, Cause, SandboxError, WorksampleError
from worksample.models import failure_of
from worksample.models.blame import ControlQuestion
from worksample.models.storable_text import scrub

from .assignment import Assignment
from .contained_tasks import contained, is_signal
from .objects import found, is_inspects, made
from .prompt import brief_text, place_text
from .settings import ObjectSettings, WorkerSettings
from .shown_digest import note
from .workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model
    from inspect_ai.solver import Generate, Solver, TaskState


def check_object(settings: ObjectSettings) -> None:
    """PlanError where the object is not here, or is no agent."""
    made(found(settings.object, settings.source), settings.args)


def in_python(model: Model | None, workspace: Workspace, settings: ObjectSettings, inputs: Path | None) -> Solver:
    """A solver that lets the object work; its model calls count as steps."""
    from inspect_ai.solver import solver
    from inspect_ai.util import turn_limit

    value = found(settings.object, settings.source)
    works = made(value, settings.args)
    inspects = is_inspects(value)

    @solver(name="object")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.messages = [_first(workspace, inputs, whole=inspects)]
            with turn_limit(workspace.limits.turns):
                try:
                    if inspects:
                        done: TaskState = await _answered_for(_solver(works)(state, generate), model)
                        return done
                    await _answered_for(works(Assignment(workspace, state, model)), model)
                finally:
                    _make_sound(state)
            return state

        return solve

    return build()


def _make_sound(state: TaskState) -> None:
    """Leave in a state what can be kept: an agent may have put anything there."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.model._chat_message import ChatMessageBase

    said = state.messages if isinstance(state.messages, Iterable) else ()
    state.messages = [message for message in said if isinstance(message, ChatMessageBase)]
    scrub(state.messages)
    if not isinstance(state.output, ModelOutput):
        state.output = ModelOutput()


def _first(workspace: Workspace, inputs: Path | None, *, whole: bool) -> ChatMessage:
    """The brief; with `whole` also what is handed in and where things are, since it is all that a model is told."""
    from inspect_ai.model import ChatMessageUser

    text = workspace.instance.work.brief
    if whole:
        text = f"{brief_text(workspace, WorkerSettings(), inputs)}\n\n{place_text(workspace)}"
    note({"messages": [text]})
    return ChatMessageUser(content=text, source="input")


def _solver(works: Any) -> Solver:
    from inspect_ai.agent import as_solver, is_agent

    return as_solver(works) if is_agent(works) else works


async def _answered_for(work: Awaitable[Any], model: Model | None) -> Any:
    """The boundary of an agent's own code. AgentError for what it raises; a limit, a lost box and a model's service
    that failed are not its own, in a group of errors either."""
    result, failed = await contained(work)
    if failed is None:
        return result
    if is_signal(failed):
        raise failed
    raise await _what_ends_it(failed, model)


async def _what_ends_it(error: BaseException, model: Model | None) -> BaseException:
    """What ends the trial where an agent's code raised `error`: one of the errors in it, or an error of ours."""
    from inspect_ai._util.exception import TerminateSampleError
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError
    from inspect_ai.util._sandbox.environment import SandboxUnavailableError

    leaves = _leaves(error)
    for leaf in leaves:
        if isinstance(leaf, LimitExceededError | TerminateSampleError | WorksampleError) or is_signal(leaf):
            return leaf
        if isinstance(leaf, SandboxUnavailableError):
            return _because(error, SandboxError(str(leaf)))
    for leaf in leaves:
        failure = failure_of(leaf, list(transcript().events))
        if failure is None:
            continue
        if failure.cause is Cause.MODEL_REFUSED and model is not None and await ControlQuestion(model).answers():
            return _because(error, AgentError(failure.reason, cause=Cause.AGENT_REJECTED))
        return leaf
    return _because(error, AgentError(f"{type(leaves[0]).__name__}: {_words(leaves[0])}"))


def _because(error: BaseException, ours: WorksampleError) -> WorksampleError:
    ours.__cause__ = error
    return ours


def _leaves(error: BaseException) -> list[BaseException]:
    """The errors of a group of groups, or the one."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def _words(error: BaseException) -> str:
    """What an error of somebody else's code says, where it can."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an agent's own code
        return "its text cannot be had"
