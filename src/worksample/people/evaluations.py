"""What was said in a round, without what is struck."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from worksample.records import Amendment, Evaluation, EvaluationOutcome, Round, Verdict, struck, targets_of
from worksample.results.verdicts import resolve

if TYPE_CHECKING:
    from worksample.store import Store


def amendments_of(store: Store) -> list[Amendment]:
    return store.find(Amendment)


def standing(evaluations: Iterable[Evaluation], amendments: Iterable[Amendment]) -> list[Evaluation]:
    """Those that no amendment strikes, whether by themselves, their evaluator, a submission or the instance."""
    out = struck(amendments)
    return [e for e in evaluations if not any(key in out for key in targets_of(e))]


def given(store: Store, round: str) -> list[Evaluation]:
    """The given evaluations of a round that stand, by time, then id."""
    found = store.find(Evaluation, round=round, outcome=EvaluationOutcome.GIVEN)
    return standing(found, amendments_of(store))


def verdicts_of(store: Store, round: Round) -> dict[str, Verdict]:
    """By `verdicts.resolving`: the round's own votes alone."""
    return resolve(round, store.find(Evaluation, round=round.id), amendments_of(store))
