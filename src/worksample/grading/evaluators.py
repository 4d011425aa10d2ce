"""Interface of all evaluators that answer without a person: programs and judge models.

People answer through their queue and are never asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from worksample.errors import Cause, RecordConflict, RecordMissing
from worksample.models import Roles
from worksample.records import Evaluator, Grading, Instance, Payload, Round, Submission

if TYPE_CHECKING:
    from worksample.store import Store

WAITING = frozenset({Cause.JUDGE_LACKS, Cause.JUDGE_LIMIT})
"""Failures for lack of means (a judge or a budget): the evaluator is asked again once its means change."""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A request for an evaluation: the `n`-th (from 1) of an evaluator on a submission in a round."""

    store: Store
    round: Round
    submission: Submission
    instance: Instance
    grading: Grading
    """The grading in force in the round; in a regrade it comes from a later version of the instance."""
    n: int = 1
    second: Submission | None = None
    """The other submission of a pair."""


@dataclass(frozen=True, slots=True)
class EvaluatorReply:
    """An evaluator's answer: either `payload`, or `cause` and `reason`. Anything else is a fault of the evaluator's
    author.
    """

    payload: Payload | None = None
    cause: Cause | None = None
    """The cause of a missing payload; `errors.POLICY` says whether the evaluator is asked again."""
    reason: str = ""
    record: dict[str, Any] = field(default_factory=dict)
    """Data kept beside the evaluation: digests of prompts, answers and printed output."""
    minutes: float | None = None
    cost: float | None = None
    """US dollars; None is unknown."""


class RoundEvaluator(Protocol):
    """An evaluator that a process can ask without a person."""

    @property
    def evaluator(self) -> Evaluator:
        """Return the evaluator's record, committed when first needed. Its id names the version: an evaluator that
        answers
        differently is another one.
        """
        ...

    @property
    def repeats(self) -> int:
        """Return the maximum number of evaluations that the evaluator gives of one submission; a program gives one."""
        ...

    @property
    def means(self) -> str:
        """Return the means that the evaluator has on this machine, such as judges or a budget. They are kept with an
        answer
        that failed for lack of them (`record["means"]`); if they change, the evaluator is asked again.
        """
        ...

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Answer a request. Failures of the deliverable or of a service are returned as causes, never raised."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluators:
    """The evaluators that can be asked on this machine."""

    sandbox: str = "bubblewrap"
    """The kind of box in which graders run."""
    judges: Callable[[Round], Sequence[RoundEvaluator]] = lambda round: ()
    """Return the judge models that are configured for a round, in the order in which they are asked."""
    roles: Roles = field(default_factory=dict)
    """Role -> the judge models that graders may ask under it."""


def stored_evaluator(store: Store, evaluator: Evaluator) -> Evaluator:
    """Return the stored record of an evaluator; commit the record if the store has none.

    If the two differ only in name, the stored record is returned. Raises RecordConflict if another evaluator has this
    id.
    """
    try:
        found = store.get(Evaluator, evaluator.id)
    except RecordMissing:
        try:
            store.commit(evaluator)
            return evaluator
        except RecordConflict:
            # Another process committed it first; only the time of its record may differ.
            found = store.get(Evaluator, evaluator.id)
    if found != evaluator.replaced(at=found.at, name=found.name):
        raise RecordConflict(
            "another evaluator already has this id", where=evaluator.id, next="give one of them another name"
        )
    return found
