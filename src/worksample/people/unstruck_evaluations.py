"""Evaluations of a round without struck ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from worksample.records import Amendment, Evaluation, EvaluationOutcome, Round, Verdict, struck, targets_of
from worksample.results.verdicts import resolve

if TYPE_CHECKING:
    from worksample.store import Store


def amendments_of(store: Store) -> list[Amendment]:
    return store.find(Amendment)


def exclude_struck(evaluations: Iterable[Evaluation], amendments: Iterable[Amendment]) -> list[Evaluation]:
    """Return the evaluations that no amendment strikes: directly, or by evaluator, submission or instance."""
    out = struck(amendments)
    return [e for e in evaluations if not any(key in out for key in targets_of(e))]


def standing_evaluations(store: Store, round: str) -> list[Evaluation]:
    """Return the round's given evaluations that are not struck, by time, then id."""
    found = store.find(Evaluation, round=round, outcome=EvaluationOutcome.GIVEN)
    return exclude_struck(found, amendments_of(store))


def verdicts_of(store: Store, round: Round) -> dict[str, Verdict]:
    """Resolve the round's own votes, without reviews by other rounds."""
    return resolve(round, store.find(Evaluation, round=round.id), amendments_of(store))
