"""Rounds of people's labels, and what is still wanted in them."""

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
    Submission,
    Trial,
    struck,
)
from worksample.results.deciding_rounds import InForce
from worksample.results.grading_in_force import asks_the_same
from worksample.results.pair_sampling import key_of
from worksample.results.second_looks import ROUTED
from worksample.store import schema

from .config import calibrated
from .label_draw import DRAWN, Draw, read_draw

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True)
class LabelRound:
    """A round of labels, and what was drawn for it."""

    round: Round
    draw: Draw


def labels_of(store: Store, experiment: str, protocol: Protocol) -> LabelRound | None:
    """The latest round of labels under a protocol that stands and asks what the judge is asked: those of another rubric
    say nothing of this one.
    """
    amendments = store.find(Amendment, target="round")
    out, rounds = struck(amendments), store.find(Round, experiment=experiment)
    judged = InForce(rounds, amendments).deciding(protocol, EvaluatorKind.JUDGE)
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
        from .pair_calibration import with_later

        draw = with_later(store, store.get(Experiment, experiment), judged[-1], draw)
    return None if draw is None else LabelRound(last, draw)


def work_of(store: Store, experiment: str, *, struck_too: bool = False) -> list[tuple[Submission, str | None]]:
    """The submissions of live trials and those handed in for it that are not struck, each with its slot, by id."""
    slots = {t.id: t.slot for t in store.find(Trial, experiment=experiment, live=True)}
    out = set() if struck_too else struck(store.find(Amendment))
    found = [s for s in store.find(Submission, experiment=experiment) if s.trial is None or s.trial in slots]
    stands = [
        s
        for s in found
        if not {
            (AmendmentTarget.SUBMISSION, s.id),
            (AmendmentTarget.INSTANCE, s.instance),
            (AmendmentTarget.TRIAL, s.trial or ""),
        }
        & out
    ]
    return sorted(((s, slots.get(s.trial or "")) for s in stands), key=lambda pair: pair[0].id)


def drawn_of(store: Store, experiment: str, found: Draw) -> list[str]:
    """The submissions that people label, of those that there are."""
    return [s.id for s, slot in work_of(store, experiment) if found.has(slot, s.id)]


def wanted(store: Store, experiment: Experiment, labels: LabelRound) -> int:
    """How many drawn submissions still lack an answer of people; one that somebody could not judge has one."""
    e = schema.evaluations.c
    pairs = labels.round.protocol is Protocol.PAIRWISE
    with store.database.reading() as connection:
        query = select(e.id, e.evaluator, e.subject, e.second)
        mine = (e.round == labels.round.id, e.outcome != EvaluationOutcome.FAILED.value)
        rows = connection.execute(query.where(*mine)).all()
    # What was struck (a person who copied the judge) is asked of somebody else.
    out = struck(store.find(Amendment)) if rows else set()
    rows = [r for r in rows if not {(AmendmentTarget.EVALUATION, r[0]), (AmendmentTarget.EVALUATOR, r[1])} & out]
    said = Counter(key_of(one, two) if two else one for _, _, one, two in rows)
    drawn = _standing_pairs(store, experiment.id, labels.draw) if pairs else drawn_of(store, experiment.id, labels.draw)
    return sum(said[key] < labels.round.overlap for key in drawn)


def _standing_pairs(store: Store, experiment: str, found: Draw) -> list[str]:
    """The drawn pairs of which neither side was struck."""
    there = {s.id for s, _ in work_of(store, experiment)}
    return [key for key in sorted(found.drawn) if there.issuperset(key.split("\x1f"))]


def sent_to_people(store: Store, judged: str) -> set[str]:
    """What of a judge's round people decide, since the judge may not."""
    out = struck(store.find(Amendment, target="round"))
    found = [
        r for r in store.find(Round, over=judged) if ROUTED in r.versions and (AmendmentTarget.ROUND, r.id) not in out
    ]
    # Of pairs each is named, not who stands in them.
    of_pairs = [r for r in found if r.protocol is Protocol.PAIRWISE]
    pairs = {key for r in of_pairs for key in json.loads(store.blobs.read(r.versions[ROUTED]))}
    return pairs | {s for r in found if r not in of_pairs for s in r.subjects}


def lacking(store: Store, experiment: Experiment) -> int:
    """How many pieces of work people are still to label, under all protocols."""
    found = (labels_of(store, experiment.id, protocol) for protocol in sorted(calibrated(experiment)))
    return sum(wanted(store, experiment, labels) for labels in found if labels is not None)


def evaluators(store: Store, round: str) -> dict[str, str]:
    """Subject -> who answered in the round, in words: another version of a judge is another evaluator."""
    by: dict[str, set[str]] = {}
    for e in store.find(Evaluation, round=round, outcome=EvaluationOutcome.GIVEN):
        by.setdefault(e.subject, set()).add(e.evaluator)
    return {subject: "+".join(sorted(ids)) for subject, ids in by.items()}
