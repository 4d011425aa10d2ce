"""The interface of evaluators that answer without a person: programs and judge models.

People answer through the queue of the app, and this interface never asks them.
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
"""Causes of failures that happen because a judge is not configured or has no budget left. The evaluator is asked again
after its configuration has changed.
"""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A request to an evaluator for one evaluation of a submission in a round. `n` counts the evaluations by the same
    evaluator, from 1.
    """

    store: Store
    round: Round
    submission: Submission
    instance: Instance
    grading: Grading
    """The grading that the round uses. In a regrade, it comes from a newer version of the instance."""
    n: int = 1
    second: Submission | None = None
    """The second submission, if a pair is compared; otherwise None."""


@dataclass(frozen=True, slots=True)
class EvaluatorReply:
    """An evaluator's answer: either `payload`, or `cause` and `reason` of a failure. An evaluator must never return
    both.
    """

    payload: Payload | None = None
    cause: Cause | None = None
    """The cause of a failure. `errors.POLICY` says whether the evaluator is asked again after such a failure."""
    reason: str = ""
    record: dict[str, Any] = field(default_factory=dict)
    """Data that are stored with the evaluation, such as the digests of prompts, answers and printed output."""
    minutes: float | None = None
    cost: float | None = None
    """Cost of the evaluation in US dollars; None if unknown."""


class RoundEvaluator(Protocol):
    """An evaluator that the platform can ask without a person, such as a grader or a judge model."""

    @property
    def evaluator(self) -> Evaluator:
        """Return the record of the evaluator, which is committed at the first evaluation.

        The id contains a version. If an evaluator changes so that its answers may change, it gets another id.
        """
        ...

    @property
    def repeats(self) -> int:
        """Return the maximum number of evaluations of one submission by this evaluator. The number is 1 for
        programs.
        """
        ...

    @property
    def means(self) -> str:
        """Return a text that describes what the evaluator can use on this machine, such as judges and budgets.

        If an evaluation fails because a judge or a budget is missing, this text is stored in `record["means"]`. The
        evaluator is asked again if the text has changed.
        """
        ...

    async def evaluate(self, asked: EvaluationRequest) -> EvaluatorReply:
        """Answer a request. Failures of the deliverable or of a service are returned as causes, and never raised."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluators:
    """The evaluators that can be asked on this machine."""

    sandbox: str = "bubblewrap"
    """Kind of box in which graders run: `bubblewrap`, `docker` or `none`."""
    judges: Callable[[Round], Sequence[RoundEvaluator]] = lambda round: ()
    """Function that returns the judge models for a round, in the order in which they are asked."""
    roles: Roles = field(default_factory=dict)
    """Judge models that graders may ask, by role."""


def stored_evaluator(store: Store, evaluator: Evaluator) -> Evaluator:
    """Return the stored record of an evaluator. If the store has no record with this id, commit the record.

    The stored record may have another name or time. Raises RecordConflict if it differs in any other field.
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
