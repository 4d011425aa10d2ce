"""Statements of people and judges about each submission, from every round, including struck ones, without the names of
people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.records import (
    Agent,
    Amendment,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Labels,
    Pairwise,
    PairwiseChoice,
    PartPayload,
    Purpose,
    Round,
    Submission,
    Tags,
    strikes,
    targets_of,
)

if TYPE_CHECKING:
    from datetime import datetime

    from worksample.store import Store

_MANY = 400
_SAYS = {
    1: "1: a reasonable client would not accept it",
    2: "2: a reasonable client would accept it",
    3: "3: better than the reference",
}


@dataclass(frozen=True, slots=True)
class StatedEvaluation:
    """An evaluation as a page shows it. All its texts come from evaluators or admins, so a template escapes them."""

    round: str
    protocol: str
    who: str
    at: datetime
    says: tuple[str, ...]
    """The chosen answers, one per line."""
    words: str
    parts: tuple[PartPayload, ...] = ()
    struck: str = ""
    """The reason why the evaluation does not count; "" if it counts."""


class SubmissionVotes:
    """Statements about submissions, by submission. Evaluations by programs are left out, because they are grades
    without words.
    """

    def __init__(self, store: Store, submissions: Iterable[str]) -> None:
        ids = sorted(set(submissions))
        found: dict[str, Evaluation] = {}
        for start in range(0, len(ids), _MANY):
            some = ids[start : start + _MANY]
            found |= {e.id: e for column in ("subject", "second") for e in store.find(Evaluation, **{column: some})}
        self._evaluators = _by_id(store.find(Evaluator, id=sorted({e.evaluator for e in found.values()})))
        said = [e for e in found.values() if self._type(e) is not EvaluatorKind.PROGRAM]
        self._rounds = {round.id: round for round in store.find(Round)} if said else {}
        self._amendments = strikes(store.find(Amendment)) if said else {}
        self._numbers = _number_evaluators(
            self._evaluators[e.evaluator] for e in said if e.evaluator in self._evaluators
        )
        self._makers = _makers(store, {s for e in said for s in (e.subject, e.second) if s and e.second})
        self._of: dict[str, list[Evaluation]] = {}
        for e in sorted(said, key=lambda e: (e.at, e.id)):
            for id in (e.subject, e.second):
                if id is not None:
                    self._of.setdefault(id, []).append(e)

    def of(self, submission: str) -> list[StatedEvaluation]:
        """Return the statements about a submission, by time."""
        return [self._state_evaluation(e, submission) for e in self._of.get(submission, ())]

    def _type(self, e: Evaluation) -> EvaluatorKind | None:
        known = self._evaluators.get(e.evaluator)
        return known.type if known is not None else None

    def _state_evaluation(self, e: Evaluation, submission: str) -> StatedEvaluation:
        round, known = self._rounds[e.round], self._evaluators.get(e.evaluator)
        who = e.evaluator if known is None else self._numbers.get(known.id, known.name)
        strike = next((self._amendments[key] for key in targets_of(e) if key in self._amendments), None)
        kind = "" if round.purpose is Purpose.GRADING else round.purpose.replace("_", " ")
        named = f"{kind} {round.id[:8]}".strip()
        return StatedEvaluation(
            round=f"{named} ({round.reason})" if round.reason else named, protocol=round.protocol.value, who=who,
            at=e.at, says=tuple(self._choices(e, submission)), words=_words(e),
            parts=e.payload.parts if isinstance(e.payload, GradePayload) else (),
            struck="" if strike is None else f"struck with its {strike.target.value}: {strike.reason}",
        )  # fmt: skip

    def _choices(self, e: Evaluation, submission: str) -> Iterator[str]:
        said = e.payload
        if e.outcome is not EvaluationOutcome.GIVEN:
            yield e.outcome.value
        if isinstance(said, Holistic):
            yield _SAYS[said.score]
            if not said.inspected:
                yield "could not be inspected adequately"
        elif isinstance(said, Pairwise):
            first = e.subject == submission
            other = self._makers.get((e.second if first else e.subject) or "", "another")
            yield f"shown {'first' if first else 'second'}, beside the deliverable of {other}"
            yield f"closer to completing the work: {_side(said.completion, first, other)}"
            yield f"better overall: {_side(said.quality, first, other)}"
        elif isinstance(said, GradePayload):
            yield f"{said.score:.3f}"
        elif isinstance(said, Tags):
            yield ", ".join(said.tags) or "no tag"
        elif isinstance(said, Labels):
            yield from (f"{name}: {label}" for name, label in said.labels.items())
        flaw = str(e.record.get("critical_flaw", ""))
        if flaw:
            yield f"critical flaw: {flaw}"


def _by_id(evaluators: Iterable[Evaluator]) -> dict[str, Evaluator]:
    return {e.id: e for e in evaluators}


def _number_evaluators(evaluators: Iterable[Evaluator]) -> dict[str, str]:
    """Return person id -> `evaluator 1`, numbered by their first evaluation; all versions of a person count as one."""
    people: dict[str, int] = {}
    out = {}
    for e in sorted(evaluators, key=lambda e: (e.at, e.id)):
        if e.type is EvaluatorKind.PERSON:
            person = e.id.rpartition("@")[0] or e.id
            out[e.id] = f"evaluator {people.setdefault(person, len(people) + 1)}"
    return out


def _makers(store: Store, submissions: set[str]) -> dict[str, str]:
    """Return who made each submission, by the submission's id: the name of the agent, or the entrant if no agent made
    it.
    """
    names = {agent.id: agent.name for agent in store.find(Agent)} if submissions else {}
    ids, out = sorted(submissions), dict[str, str]()
    for start in range(0, len(ids), _MANY):
        out |= {s.id: names.get(s.entrant, s.entrant) for s in store.find(Submission, id=ids[start : start + _MANY])}
    return out


def _side(side: PairwiseChoice, first: bool, other: str) -> str:
    if side is PairwiseChoice.EQUAL:
        return "equal"
    return "this one" if (side is PairwiseChoice.FIRST) == first else other


def _words(e: Evaluation) -> str:
    said = e.payload
    if isinstance(said, Holistic | Pairwise):
        return said.justification or e.reason
    if isinstance(said, Tags | Labels):
        return said.note or e.reason
    return (said.reason if isinstance(said, GradePayload) else "") or e.reason
