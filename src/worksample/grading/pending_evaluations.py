"""The evaluations that a subject still needs until it has as many as the round's `overlap` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from worksample.errors import POLICY, Boundary, Cause
from worksample.records import Evaluation, EvaluationOutcome, Round

from .evaluators import WAITING, RoundEvaluator

TRIES = 3
"""Maximum number of tries at one place after transient failures. Failures of a judge are not counted."""


@dataclass(frozen=True, slots=True)
class EvaluationPlace:
    """A place for an evaluation: the evaluation number `n`, from 1, by one evaluator on a subject."""

    by: RoundEvaluator
    n: int

    @property
    def key(self) -> tuple[str, int]:
        """Return the evaluator's id and the number `n`."""
        return self.by.evaluator.id, self.n


def place_of(evaluation: Evaluation) -> tuple[str, int]:
    """Return the key of the place to which an evaluation belongs."""
    return evaluation.evaluator, evaluation.draw


def is_pending(evaluations: Sequence[Evaluation], tries: int = TRIES, since: datetime | None = None) -> bool:
    """Return whether the evaluator is asked (again) at a place with these evaluations. It is asked if none of them was
    given and all failures were transient.

    since: the start of this run. A judge repeats its own calls as often as its setting `tries` says. A judge that
    failed in this run is therefore asked again only in the next run.
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
    """Return the places of a subject at which evaluators are asked now (see `is_pending`). The result is empty if
    `overlap` evaluations are given, or if all places are used.

    made: the subject's evaluations in the round. Each evaluator is asked once before any evaluator is asked twice. If a
    place has failed permanently, the next place replaces it. Several processes together never make more evaluations
    than needed: an evaluation in progress stays pending until it is committed.
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
    """Return the evaluations that count as tries at a place.

    An evaluation that failed because a judge or a budget was missing does not count if the evaluator's configuration
    has changed since.
    """
    return [e for e in evaluations if e.cause not in WAITING or e.record.get("means", "") == place.by.means]
