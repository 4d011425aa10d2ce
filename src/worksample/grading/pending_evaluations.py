"""Choice of the evaluations that a subject still needs until a round's overlap is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from worksample.errors import POLICY, Boundary, Cause
from worksample.records import Evaluation, EvaluationOutcome, Round

from .evaluators import WAITING, RoundEvaluator

TRIES = 3
"""Maximum number of evaluations at one place if only transient failures, and no failures of a judge, prevented an
answer.
"""


@dataclass(frozen=True, slots=True)
class EvaluationPlace:
    """Place of an evaluation: the `n`-th (from 1) of one evaluator on a subject."""

    by: RoundEvaluator
    n: int

    @property
    def key(self) -> tuple[str, int]:
        """Return evaluator id and n."""
        return self.by.evaluator.id, self.n


def place_of(evaluation: Evaluation) -> tuple[str, int]:
    """Return the key of the place at which an evaluation was made."""
    return evaluation.evaluator, evaluation.draw


def is_pending(evaluations: Sequence[Evaluation], tries: int = TRIES, since: datetime | None = None) -> bool:
    """Return whether a place with these evaluations is asked (again): none was given, and all failures were transient.

    since: when this run began. A judge repeats its own calls as often as its `tries` say, so a judge that failed in
    this run is asked again only in the next one.
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
    """Return the places of a subject that are asked now (see `is_pending`): none if `overlap` evaluations are given, or
    nobody is left to ask.

    made: the subject's evaluations in the round. Each evaluator answers once before one answers twice. A place that
    failed for good is replaced by the next one. Several processes together never ask more places than are needed: a
    started evaluation stays pending until it ends.
    """
    lacking = round.overlap - sum(e.outcome is EvaluationOutcome.GIVEN for e in made)
    if lacking <= 0:
        return []
    at: dict[tuple[str, int], list[Evaluation]] = {}
    for evaluation in made:
        if evaluation.cause is Cause.SUPERSEDED:
            continue  # another process is making it; its result counts
        at.setdefault(place_of(evaluation), []).append(evaluation)
    most = max((each.repeats for each in by), default=0)
    every = (EvaluationPlace(each, n) for n in range(1, most + 1) for each in by if n <= each.repeats)
    asked = (place for place in every if is_pending(_counting_evaluations(place, at.get(place.key, [])), tries, since))
    return list(islice(asked, lacking))


def _counting_evaluations(place: EvaluationPlace, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Leave out evaluations that failed for lack of means if the evaluator has other means now."""
    return [e for e in evaluations if e.cause not in WAITING or e.record.get("means", "") == place.by.means]
