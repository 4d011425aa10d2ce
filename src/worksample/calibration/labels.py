"""Rounds of people's labels, and what is still wanted in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample.records import (
    Amendment,
    Evaluation,
    Experiment,
    Given,
    Protocol,
    Purpose,
    Round,
    Submission,
    Target,
    Trial,
    struck,
)
from worksample.store import schema
from worksample.verdicts.second_looks import ROUTED

from .config import calibrated
from .drawing import DRAWN, Draw, read_draw

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True)
class Labels:
    """A round of labels, and what was drawn for it."""

    round: Round
    draw: Draw


def labels_of(store: Store, experiment: str, protocol: Protocol, judged: str | None = None) -> Labels | None:
    """The latest round of labels under a protocol that stands. judged: over this round of a judge's."""
    out = struck(store.find(Amendment, target="round"))
    found = [
        r
        for r in store.find(Round, experiment=experiment, purpose=Purpose.CALIBRATION)
        if r.protocol is protocol and DRAWN in r.versions and judged in (None, r.over)
        and (Target.ROUND, r.id) not in out
    ]  # fmt: skip
    if not found:
        return None
    last = max(found, key=lambda r: (r.at, r.id))
    draw = read_draw(store, last)
    return None if draw is None else Labels(last, draw)


def work_of(store: Store, experiment: str) -> list[tuple[Submission, str | None]]:
    """The submissions of live trials and those handed in for it that are not struck, each with its slot, by id."""
    slots = {t.id: t.slot for t in store.find(Trial, experiment=experiment, live=True)}
    out = struck(store.find(Amendment))
    found = [s for s in store.find(Submission, experiment=experiment) if s.trial is None or s.trial in slots]
    stands = [
        s for s in found
        if not {(Target.SUBMISSION, s.id), (Target.INSTANCE, s.instance), (Target.TRIAL, s.trial or "")} & out
    ]  # fmt: skip
    return sorted(((s, slots.get(s.trial or "")) for s in stands), key=lambda pair: pair[0].id)


def drawn_of(store: Store, experiment: str, found: Draw) -> list[str]:
    """The submissions that people label, of those that there are."""
    return [s.id for s, slot in work_of(store, experiment) if found.has(slot, s.id)]


def wanted(store: Store, experiment: Experiment, labels: Labels) -> int:
    """How many drawn submissions still lack an answer of people; one that somebody could not judge has one."""
    e = schema.evaluations.c
    with store.database.reading() as connection:
        query = select(e.subject).where(e.round == labels.round.id, e.outcome != Given.FAILED.value)
        said = Counter(connection.execute(query).scalars())
    return sum(said[id] < labels.round.overlap for id in drawn_of(store, experiment.id, labels.draw))


def sent_to_people(store: Store, judged: str) -> set[str]:
    """What of a judge's round people decide, since the judge may not."""
    out = struck(store.find(Amendment, target="round"))
    found = [r for r in store.find(Round, over=judged) if ROUTED in r.versions and (Target.ROUND, r.id) not in out]
    return {subject for round in found for subject in round.subjects}


def lacking(store: Store, experiment: Experiment) -> int:
    """How many pieces of work people are still to label, under all protocols."""
    found = (labels_of(store, experiment.id, protocol) for protocol in sorted(calibrated(experiment)))
    return sum(wanted(store, experiment, labels) for labels in found if labels is not None)


def evaluators(store: Store, round: str) -> dict[str, str]:
    """Subject -> who answered in the round, in words: another version of a judge is another evaluator."""
    by: dict[str, set[str]] = {}
    for e in store.find(Evaluation, round=round, outcome=Given.GIVEN):
        by.setdefault(e.subject, set()).add(e.evaluator)
    return {subject: "+".join(sorted(ids)) for subject, ids in by.items()}
