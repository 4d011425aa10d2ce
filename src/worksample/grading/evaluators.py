"""Who evaluates: the one interface of programs, judge models and whoever else answers by itself.

People answer through their queue and are never asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from worksample.errors import Cause, RecordConflict, RecordMissing
from worksample.models import Roles
from worksample.records import Evaluator, EvaluatorKind, Grading, Instance, Payload, Round, Submission

if TYPE_CHECKING:
    from worksample.store import Store

WAITING = frozenset({Cause.JUDGE_LACKS, Cause.JUDGE_LIMIT})
"""Failures for want of means: asked again once there are others."""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """One evaluation that is wanted: the `n`-th (from 1) of an evaluator on a submission in a round."""

    store: Store
    round: Round
    submission: Submission
    instance: Instance
    grading: Grading
    """The one in force in the round; of a later version of the instance where the round is a regrade."""
    n: int = 1
    second: Submission | None = None
    """Of a pair: the other one."""


@dataclass(frozen=True, slots=True)
class EvaluatorReply:
    """`payload`, or `cause` and `reason`. Anything but one of the two is a fault of the evaluator's author."""

    payload: Payload | None = None
    cause: Cause | None = None
    """Why there is none; `errors.POLICY` says whether it is asked again."""
    reason: str = ""
    record: dict[str, Any] = field(default_factory=dict)
    """What is kept beside the evaluation: digests of prompts, answers and what was printed."""
    minutes: float | None = None
    cost: float | None = None
    """US dollars; None is unknown."""


class RoundEvaluator(Protocol):
    """Something that evaluates by itself."""

    @property
    def evaluator(self) -> Evaluator:
        """Who it is; committed when first needed. Its id names the version: what answers otherwise is another one."""
        ...

    @property
    def repeats(self) -> int:
        """How many evaluations of one submission it gives at most; programs give one."""
        ...

    @property
    def means(self) -> str:
        """What it has to work with here: a judge for graders, a budget. Kept with an answer that failed for want of it
        (`record["means"]`); once it says something else, it is asked again.
        """
        ...

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Answer. Never raises for what the deliverable does, nor for a service that fails: those are causes."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluators:
    """Who can be asked on this machine."""

    sandbox: str = "bubblewrap"
    """The kind of box in which programs grade."""
    judges: Callable[[Round], Sequence[RoundEvaluator]] = lambda round: ()
    """The judge models that are configured for a round, in the order in which they are asked."""
    roles: Roles = field(default_factory=dict)
    """The judge models that graders may ask: role -> its models."""


def evaluators_of(round: Round, here: Evaluators) -> tuple[RoundEvaluator, ...]:
    """Whom a process asks in `round`. None where people answer, or where no judge is configured: it waits for those."""
    from .program_evaluator import ProgramEvaluator

    if round.by is EvaluatorKind.PROGRAM:
        return (ProgramEvaluator(here.sandbox, roles=here.roles),)
    return tuple(here.judges(round)) if round.by is EvaluatorKind.JUDGE else ()


def stored_evaluator(store: Store, evaluator: Evaluator) -> Evaluator:
    """The stored record of an evaluator, committed where the store lacks it.

    The stored one stands where the two differ in name only, which says nothing of how it answers. RecordConflict where
    one of its id is another: two judges under one name.
    """
    try:
        found = store.get(Evaluator, evaluator.id)
    except RecordMissing:
        try:
            store.commit(evaluator)
            return evaluator
        except RecordConflict:
            # Another process was quicker; its record may differ in the moment only.
            found = store.get(Evaluator, evaluator.id)
    if found != evaluator.replaced(at=found.at, name=found.name):
        raise RecordConflict(
            "another evaluator already has this id", where=evaluator.id, next="give one of them another name"
        )
    return found
