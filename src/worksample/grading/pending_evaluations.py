"""Which evaluations a subject still wants, until a round's overlap is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from worksample.errors import POLICY, Boundary, Cause
from worksample.records import Evaluation, EvaluationOutcome, Round

from .evaluators import WAITING, RoundEvaluator

TRIES = 3
"""Evaluations at one place at most, where only passing troubles kept it from an answer, and no judge failed."""


@dataclass(frozen=True, slots=True)
class EvaluationPlace:
    """The `n`-th evaluation (from 1) of one evaluator on a subject."""

    by: RoundEvaluator
    n: int

    @property
    def key(self) -> tuple[str, int]:
        """Evaluator id and n."""
        return self.by.evaluator.id, self.n


def place_of(evaluation: Evaluation) -> tuple[str, int]:
    """The key of the place that an evaluation was made at."""
    return evaluation.evaluator, evaluation.draw


def is_pending(evaluations: Sequence[Evaluation], tries: int = TRIES, since: datetime | None = None) -> bool:
    """Whether a place with these evaluations is asked (again): nothing given, and all failed in passing.

    since: when this run began. A judge asks again by itself, as often as its `tries` say: where it failed in this run,
    it is asked again in the next one only.
    """
    if any(e.outcome is EvaluationOutcome.GIVEN for e in evaluations):
        return False
    if not all(e.cause is not None and POLICY[e.cause].retry for e in evaluations):
        return False
    if since is None:
        return len(evaluations) < tries
    judged = [e for e in evaluations if e.cause is not None and POLICY[e.cause].boundary is Boundary.JUDGE]
    return all(e.at < since for e in judged) and len(evaluations) - len(judged) < tries


def pending_places(
    round: Round,
    by: Sequence[RoundEvaluator],
    made: Sequence[Evaluation],
    tries: int = TRIES,
    since: datetime | None = None,
) -> list[EvaluationPlace]:
    """The places of a subject that are asked now (see `wants`): none if `overlap` evaluations are given, or nobody is
    left to ask.

    `made`: the subject's evaluations in the round. Each evaluator answers once before one answers twice. A place that
    gives nothing for good is made up for by the next one. Places that are asked at the same time by several processes
    are never more than are wanted: what is begun stays among the wanted until it ends, whatever else ends meanwhile.
    """
    lacking = round.overlap - sum(e.outcome is EvaluationOutcome.GIVEN for e in made)
    if lacking <= 0:
        return []
    at: dict[tuple[str, int], list[Evaluation]] = {}
    for evaluation in made:
        if evaluation.cause is Cause.SUPERSEDED:
            continue  # what counts is what the other process makes of it
        at.setdefault(place_of(evaluation), []).append(evaluation)
    most = max((each.repeats for each in by), default=0)
    every = (EvaluationPlace(each, n) for n in range(1, most + 1) for each in by if n <= each.repeats)
    asked = (place for place in every if is_pending(_counting_evaluations(place, at.get(place.key, [])), tries, since))
    return list(islice(asked, lacking))


def _counting_evaluations(place: EvaluationPlace, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Without those that failed for want of means, where there are others now."""
    return [e for e in evaluations if e.cause not in WAITING or e.record.get("means", "") == place.by.means]
