"""Which submissions wait for people or for a judge: a state of their own, and nobody's failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import select

from worksample.calibration.config import calibrated
from worksample.calibration.labels import sent_to_people
from worksample.grading.asked_kinds import kinds_of
from worksample.records import Amendment, EvaluatorKind, Experiment, Given, Instance, Target, struck
from worksample.store import Store, schema

from .rounds import asked_of, round_in_force


def waiting_for(store: Store, experiment: Experiment, undecided: Mapping[str, str]) -> dict[str, EvaluatorKind]:
    """Of submissions without a verdict (submission -> instance) whom each waits for: people, else a judge.

    Those that wait for nobody are left out. People and judges are waited for until their round has all the evaluations
    that it wants of them; but what a program or a judge was asked in vain is ungraded, whatever others may still say.
    """
    if not undecided:
        return {}
    protocol = experiment.lock.protocol
    known = {id: store.get(Instance, id) for id in experiment.lock.instances}
    found: dict[str, EvaluatorKind] = {}
    stuck: set[str] = set()
    routed: set[str] = set()
    for _, by in asked_of(known.values(), (protocol,), calibrated(experiment)):
        concerned = {id for id, i in known.items() if protocol in i.grading and by in kinds_of(i.grading[protocol])}
        round = round_in_force(store, experiment, protocol, by)
        given, failed = _said(store, round.id) if round else (Counter[str](), Counter[str]())
        wanted = round.overlap if round else 1
        short = {s for s, instance in undecided.items() if instance in concerned and given[s] < wanted}
        if by is not EvaluatorKind.PERSON:
            stuck |= {s for s in short if failed[s]}
        if by is not EvaluatorKind.PROGRAM:
            found |= dict.fromkeys(short, by)
        if by is EvaluatorKind.JUDGE and round is not None:
            routed |= sent_to_people(store, round.id)
    found |= dict.fromkeys(routed & undecided.keys(), EvaluatorKind.PERSON)
    return {s: by for s, by in found.items() if s not in stuck}


def _said(store: Store, round: str) -> tuple[Counter[str], Counter[str]]:
    """How often each subject was given an evaluation that stands, and how often one failed."""
    out = struck(store.find(Amendment))
    e = schema.evaluations.c
    given, failed = Counter[str](), Counter[str]()
    known: set[tuple[str, str, int]] = set()
    with store.database.reading() as connection:
        query = select(e.id, e.subject, e.evaluator, e.outcome, e.draw).where(e.round == round)
        for id, subject, evaluator, outcome, draw in connection.execute(query):
            if (Target.EVALUATION, id) in out or (Target.EVALUATOR, evaluator) in out:
                continue
            if outcome == Given.GIVEN.value and (subject, evaluator, draw) not in known:
                known.add((subject, evaluator, draw))
                given[subject] += 1
            failed[subject] += outcome == Given.FAILED.value
    return given, failed
