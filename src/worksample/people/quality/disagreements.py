"""Disagreements between people, judges and programs on the same submission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.people.unstruck_evaluations import amendments_of, exclude_struck
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Instance,
    Purpose,
    Round,
    is_accepted,
)
from worksample.results.judged_rounds import passes_of

if TYPE_CHECKING:
    from worksample.store import Store

WHOLE = ""
"""Key of the submission as a whole, among criteria."""
_NO_VOTES = frozenset({Purpose.CALIBRATION, Purpose.INTEGRITY, Purpose.FAILURES})
_SCORES = {1: "1: not accepted", 2: "2: accepted", 3: "3: accepted, better than the reference"}


@dataclass(frozen=True, slots=True)
class DisputedAnswer:
    """An answer to a disputed question. `passed`: the whole or one criterion; `said`: the answer in the form's
    words.
    """

    evaluation: str
    round: str
    evaluator: str
    kind: EvaluatorKind
    passed: bool
    said: str
    why: str


@dataclass(frozen=True, slots=True)
class DisputedQuestion:
    """A question with different answers. `criterion`: its id, or `WHOLE`; `text`: its words, if the instance has
    them.
    """

    submission: str
    instance: str
    criterion: str
    text: str
    answers: tuple[DisputedAnswer, ...]

    @property
    def between(self) -> tuple[EvaluatorKind, ...]:
        """The kinds of evaluator that disagree: two kinds, or one kind whose members disagree."""
        sides = {kind: {a.passed for a in self.answers if a.kind is kind} for kind in {a.kind for a in self.answers}}
        split = [kind for kind, said in sides.items() if len(said) > 1]
        return tuple(sorted(sides)) if len(sides) > 1 else tuple(split)


@dataclass(frozen=True, slots=True)
class DisputedQuestions:
    """`looked_at`: questions that two or more answered; `found`: those with different answers."""

    looked_at: int
    found: tuple[DisputedQuestion, ...]
    rounds: frozenset[str]
    """The rounds whose evaluations were read."""


def disputed_questions(store: Store, experiment: str) -> DisputedQuestions:
    """Compare all unstruck evaluations of an experiment's submissions, as a whole and by criterion.

    A criterion is the same question under the program's and the rubric's protocol. Skipped criteria are ignored, an
    evaluator's latest answer counts, and pairs, tags and gold items are left out.
    """
    rounds = {r.id: r for r in store.find(Round, experiment=experiment)}
    rounds |= {r.id: r for r in store.find(Round) if r.over in rounds}
    votes = {id: r for id, r in rounds.items() if r.purpose not in _NO_VOTES}
    amendments = amendments_of(store)
    said: dict[tuple[str, str], dict[str, DisputedAnswer]] = {}
    places: dict[str, str] = {}
    for id, round in votes.items():
        found = exclude_struck(store.find(Evaluation, round=id, outcome=EvaluationOutcome.GIVEN), amendments)
        passes = passes_of(store, round) if any(isinstance(e.payload, GradePayload) for e in found) else {}
        for e in sorted(found, key=lambda e: (e.at, e.id)):
            places[e.subject] = e.instance
            for criterion, passed, words, why in _answers(e, passes):
                answer = DisputedAnswer(e.id, id, e.evaluator, round.by, passed, words, why)
                said.setdefault((e.subject, criterion), {})[e.evaluator] = answer
    several = {key: tuple(one.values()) for key, one in said.items() if len(one) > 1}
    parted = {key: answers for key, answers in several.items() if len({a.passed for a in answers}) > 1}
    texts = {id: _texts(store.get(Instance, id)) for id in {places[subject] for subject, _ in parted}}
    rows = [
        DisputedQuestion(subject, places[subject], criterion, texts[places[subject]].get(criterion, ""), answers)
        for (subject, criterion), answers in parted.items()
    ]
    rows.sort(key=lambda p: (p.criterion != WHOLE, p.instance, p.submission, p.criterion))
    return DisputedQuestions(len(several), tuple(rows), frozenset(votes))


def _answers(e: Evaluation, passes: dict[str, bool]) -> Iterator[tuple[str, bool, str, str]]:
    """Yield criterion, whether it passes, the answer in words, and the reason."""
    if isinstance(e.payload, Holistic):
        yield WHOLE, bool(is_accepted(e.payload.score)), _SCORES[e.payload.score], e.payload.justification
    elif isinstance(e.payload, GradePayload):
        if e.id in passes:
            yield WHOLE, passes[e.id], f"{100 * e.payload.score:.0f} % of the points", e.payload.reason
        for part in e.payload.leaves:
            if part.skip is None:
                yield part.name, part.passed, "pass" if part.passed else "fail", part.reason


def _texts(instance: Instance) -> dict[str, str]:
    return {leaf.id: leaf.text for grading in instance.grading.values() for leaf in grading.criteria.leaves}


def names_of(store: Store, evaluators: set[str]) -> dict[str, str]:
    """Return names of evaluators: a judge's model, a program's name."""
    return {e.id: e.name for e in store.find(Evaluator, id=sorted(evaluators))} if evaluators else {}
