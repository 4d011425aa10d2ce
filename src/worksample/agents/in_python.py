"""Agents that are Python objects on our side of the box: Inspect's solvers and agents, and async functions."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.errors import AgentError, Cause, SandboxError, WorksampleError
from worksample.models import failure_of
from worksample.models.blame import Control
from worksample.models.storable_text import scrubbed

from .assignment import Assignment
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
                    scrubbed(state.messages)
            return state

        return solve

    return build()


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
    that failed are not its own."""
    from inspect_ai._util.exception import TerminateSampleError
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError
    from inspect_ai.util._sandbox.environment import SandboxUnavailableError

    try:
        return await work
    except (LimitExceededError, TerminateSampleError, WorksampleError):
        raise
    except SandboxUnavailableError as error:
        raise SandboxError(str(error)) from error
    except SystemExit as error:  # it would end the run, and every trial beside it
        raise AgentError(f"SystemExit: {error.code}") from None
    except Exception as error:
        failure = failure_of(error, list(transcript().events))
        if failure is None:
            raise AgentError(f"{type(error).__name__}: {error}") from error
        if failure.cause is Cause.MODEL_REFUSED and model is not None and await Control(model).answers():
            raise AgentError(failure.reason, cause=Cause.AGENT_REJECTED) from error
        raise
