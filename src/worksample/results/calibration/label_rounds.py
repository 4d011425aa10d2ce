"""Rounds in which people label a judge's work, and the number of labels that are still missing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample.records import (
    Amendment,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    EvaluatorKind,
    Experiment,
    Protocol,
    Purpose,
    Round,
    struck,
)
from worksample.results.deciding_rounds import RoundsInForce
from worksample.results.grading_in_force import asks_the_same
from worksample.results.pair_sampling import key_of
from worksample.results.second_looks import ROUTED
from worksample.store import schema

from .config import calibrated_protocols
from .label_draw import DRAWN, LabelDraw, read_draw
from .pair_strata import submissions_with_slots, with_later_pairs

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True)
class LabelRound:
    """A round in which people label work, with the draw of this work."""

    round: Round
    draw: LabelDraw


def labels_of(store: Store, experiment: str, protocol: Protocol) -> LabelRound | None:
    """Return the latest valid round of labels under a protocol. Return None if there is none.

    The round must ask the same questions as the judge's round, because labels of another rubric do not show how good
    this judge is.
    """
    amendments = store.find(Amendment, target="round")
    out, rounds = struck(amendments), store.find(Round, experiment=experiment)
    judged = RoundsInForce(rounds, amendments).deciding(protocol, EvaluatorKind.JUDGE)
    found = [
        r
        for r in rounds
        if r.purpose is Purpose.CALIBRATION and r.protocol is protocol and DRAWN in r.versions
        and (AmendmentTarget.ROUND, r.id) not in out and (not judged or asks_the_same(r, judged[-1]))
    ]  # fmt: skip
    if not found:
        return None
    last = max(found, key=lambda r: (r.at, r.id))
    draw = read_draw(store, last)
    if draw is not None and protocol is Protocol.PAIRWISE and judged:
        draw = with_later_pairs(store, store.get(Experiment, experiment), judged[-1], draw)
    return None if draw is None else LabelRound(last, draw)


def drawn_submissions(store: Store, experiment: str, found: LabelDraw) -> list[str]:
    """Return the ids of the existing submissions that were drawn for people to label."""
    return [s.id for s, slot in submissions_with_slots(store, experiment) if found.has(slot, s.id)]


def count_missing_labels(store: Store, experiment: Experiment, labels: LabelRound) -> int:
    """Count the drawn submissions or pairs that need more answers by people. The answer "could not judge" counts as an
    answer.
    """
    e = schema.evaluations.c
    pairs = labels.round.protocol is Protocol.PAIRWISE
    with store.database.reading() as connection:
        query = select(e.id, e.evaluator, e.subject, e.second)
        mine = (e.round == labels.round.id, e.outcome != EvaluationOutcome.FAILED.value)
        rows = connection.execute(query.where(*mine)).all()
    # A struck answer (by a person who copied the judge) is asked of another person.
    out = struck(store.find(Amendment)) if rows else set()
    rows = [r for r in rows if not {(AmendmentTarget.EVALUATION, r[0]), (AmendmentTarget.EVALUATOR, r[1])} & out]
    said = Counter(key_of(one, two) if two else one for _, _, one, two in rows)
    drawn = (
        _standing_pairs(store, experiment.id, labels.draw)
        if pairs
        else drawn_submissions(store, experiment.id, labels.draw)
    )
    return sum(said[key] < labels.round.overlap for key in drawn)


def _standing_pairs(store: Store, experiment: str, found: LabelDraw) -> list[str]:
    """Return the keys of the drawn pairs in which neither submission was withdrawn (struck)."""
    there = {s.id for s, _ in submissions_with_slots(store, experiment)}
    return [key for key in sorted(found.drawn) if there.issuperset(key.split("\x1f"))]


def sent_to_people(store: Store, judged: str) -> set[str]:
    """Return the submissions or pairs of a judge's round that people decide, because the judge may not decide them."""
    out = struck(store.find(Amendment, target="round"))
    found = [
        r for r in store.find(Round, over=judged) if ROUTED in r.versions and (AmendmentTarget.ROUND, r.id) not in out
    ]
    # A draw of pairs names each pair, not its submissions.
    of_pairs = [r for r in found if r.protocol is Protocol.PAIRWISE]
    pairs = {key for r in of_pairs for key in json.loads(store.blobs.read(r.versions[ROUTED]))}
    return pairs | {s for r in found if r not in of_pairs for s in r.subjects}


def count_all_missing_labels(store: Store, experiment: Experiment) -> int:
    """Count the submissions and pairs that people still have to label, under all protocols of the experiment."""
    found = (labels_of(store, experiment.id, protocol) for protocol in sorted(calibrated_protocols(experiment)))
    return sum(count_missing_labels(store, experiment, labels) for labels in found if labels is not None)


def evaluators(store: Store, round: str) -> dict[str, str]:
    """Return the evaluators that answered in a round, by subject, as ids joined by `+`. Two versions of a judge are two
    evaluators.
    """
    by: dict[str, set[str]] = {}
    for e in store.find(Evaluation, round=round, outcome=EvaluationOutcome.GIVEN):
        by.setdefault(e.subject, set()).add(e.evaluator)
    return {subject: "+".join(sorted(ids)) for subject, ids in by.items()}
