"""Behaviour (ALE C.3.2): a recorded course of actions is replayed, and the states that it passes are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from worksample.errors import Cause, DeliverableError, GraderError
from worksample.kit.check_score import Check, average

from .state import state

S = TypeVar("S")

ACTION_LIMIT = 100_000


class ForbiddenAction(ValueError):
    """An action that the rules of the replayed system do not allow at that moment. The function that applies actions
    raises it.
    """


def replay(start: S, actions: Sequence[Any], apply: Callable[[S, Any], S], *, most: int = ACTION_LIMIT) -> list[S]:
    """Return the states that a system passes, beginning with `start`.

    actions: what the deliverable says was done. apply: the author's rules; returns a new state, raises ForbiddenAction
    for an action that is not allowed, and must not change the state that it gets. Raises DeliverableError if `actions`
    is not a list, is longer than `most`, or holds a forbidden action: a course that breaks the rules is worth nothing.
    """
    if not isinstance(actions, list | tuple):
        raise DeliverableError("the actions are not a list", where="the deliverable")
    if len(actions) > most:
        raise DeliverableError(f"has more than {most:,} actions", where="the deliverable")
    states = [start]
    for number, action in enumerate(actions, 1):
        try:
            states.append(apply(states[-1], action))
        except (ForbiddenAction, KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
            where = f"action {number}, {str(action)[:60]}"
            raise DeliverableError(f"{where}: {str(error)[:200]}", where="the deliverable") from error
    return states


def replayed(
    actions: Sequence[Any], trajectory: Sequence[Mapping[str, Any]], start: Any, apply: Callable[[Any, Any], Any], *,
    tolerance: float = 0.0,
) -> Check:  # fmt: skip
    """Return the share of a recorded trajectory's states that a replay of the deliverable reaches, in their order.

    trajectory: states or parts of states, first to last, as the record of the task has them. Each must be reached at or
    after the one before it. If the start already fulfils the last one, nothing is to be done, and GraderError is
    raised. Raises the errors of `replay`.
    """
    if not trajectory or state(start, trajectory[-1], tolerance=tolerance).passed:
        raise GraderError(
            "the start already fulfils the end of the trajectory",
            cause=Cause.GRADER_CRASH,
            next="record a trajectory whose end differs from its start",
        )
    states = replay(start, actions, apply)
    at, checks = 1, []
    for number, wanted in enumerate(trajectory, 1):
        reached = next(
            (i for i in range(at, len(states)) if state(states[i], wanted, tolerance=tolerance).passed), None
        )
        checks.append(Check.of(reached is not None, f"state {number} is not reached"))
        at = at if reached is None else reached
    return average(checks)
