"""The evaluations of a submission that its agent may receive as feedback."""

from __future__ import annotations

from worksample.records import (
    Amendment,
    Evaluation,
    EvaluationOutcome,
    EvaluatorKind,
    Feedback,
    Protocol,
    Purpose,
    Round,
    struck,
    targets_of,
)
from worksample.results.deciding_rounds import RoundsInForce
from worksample.store import Store

KIND = {
    Feedback.PEOPLE: EvaluatorKind.PERSON,
    Feedback.JUDGE: EvaluatorKind.JUDGE,
    Feedback.PROGRAM: EvaluatorKind.PROGRAM,
}
"""The kind of evaluator whose evaluations an agent receives, by the feedback of the arm. Feedback without an entry
here, such as `generic`, uses no evaluations.
"""


class FeedbackSources:
    """Evaluations that may become feedback under a protocol: those of rounds in force, and of their adjudications.
    Rounds and amendments are read only once.
    """

    def __init__(self, store: Store, protocol: Protocol) -> None:
        self._store = store
        amendments = store.find(Amendment)
        self._out = struck(amendments)
        rounds = store.find(Round, protocol=protocol)
        self._found = RoundsInForce(rounds, amendments)
        self._protocol = protocol

    def of(self, submission: str, kind: EvaluatorKind) -> tuple[Evaluation, ...]:
        """Return the valid evaluations of a submission by one kind of evaluator, oldest first.

        The evaluations come from the latest round in force that has any, and from adjudications of this round.
        """
        made = [e for e in self._store.find(Evaluation, subject=submission) if self._stands(e)]
        for round in reversed(self._found.deciding(self._protocol, kind)):
            if any(e.round == round.id for e in made):
                looks = self._found.second_looks([round.id], round)
                ids = {round.id, *(r.id for r in looks if r.purpose is Purpose.ADJUDICATION and r.by is kind)}
                return tuple(e for e in made if e.round in ids)
        return ()

    def _stands(self, evaluation: Evaluation) -> bool:
        return evaluation.outcome is EvaluationOutcome.GIVEN and not self._out.intersection(targets_of(evaluation))
