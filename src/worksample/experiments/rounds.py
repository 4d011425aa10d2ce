"""The rounds of an experiment's own: one for each protocol and each kind of evaluator that its criteria name."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from worksample.errors import PlanError
from worksample.files import put_canonical
from worksample.grading import Evaluates, EvaluatorPanel, Evaluators, open_round
from worksample.grading.evaluator_kinds import kinds_of, usual
from worksample.grading.grade_round import live_submissions
from worksample.records import (
    Amendment,
    EvaluatorKind,
    Experiment,
    Instance,
    Protocol,
    Purpose,
    ResolutionRule,
    Round,
    now,
)
from worksample.results.calibration.config import calibrated
from worksample.results.deciding_rounds import InForce
from worksample.results.pair_sampling import PAIRS, PER_PAIR, Pair, drawn_pairs, entries_of, sample_pairs
from worksample.store import Store

from .claim import alone

if TYPE_CHECKING:
    from collections.abc import Sequence

REASON = "graded as trials closed"
LATER = "pairs of work that came later"
WHOLE = frozenset({Protocol.HOLISTIC, Protocol.PAIRWISE})
"""Protocols that judge work as a whole: people's, and a judge's too where one is configured."""
Fill = Callable[[Store, Experiment, Protocol], int]
"""Opens or tops up the people's round of an experiment under a protocol; returns how many items came in.

`people` and `experiments` are siblings that know nothing of each other: who calls a run (the command line, the app)
passes `people.rounds.experiment_rounds.OwnRounds.fill`, and a run without one waits for people just the same.
"""


def asked_of(
    instances: Iterable[Instance], protocols: Iterable[Protocol], calibrated: Collection[Protocol] = ()
) -> list[tuple[Protocol, EvaluatorKind]]:
    """Whom an experiment needs: protocol by protocol the kinds that its criteria name, programs first.

    Work that is judged as a whole is a judge's where that one is `calibrated`: people label a sample of it.
    """
    known = list(instances)
    order = (EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE, EvaluatorKind.PERSON)
    found = []
    for protocol in protocols:
        named = {kind for i in known if protocol in i.grading for kind in kinds_of(i.grading[protocol])}
        if protocol in WHOLE and protocol in calibrated:
            named = {EvaluatorKind.JUDGE}
        found += [(protocol, kind) for kind in order if kind in named]
    return found


def own_rounds(store: Store, experiment: Experiment, here: Evaluators) -> list[Round]:
    """The rounds in force that programs and judges fill, opened where they are missing, the first protocol's first.

    Where criteria name a judge the round is there also when none is configured: it waits for one. Work that is judged
    as a whole is people's, and a judge's too where one is configured for it.
    """
    instances = [store.get(Instance, id) for id in experiment.lock.instances]
    every = asked_of(instances, experiment.lock.protocols, calibrated(experiment))
    asked = [pair for pair in every if pair[1] is not EvaluatorKind.PERSON]
    for protocol in experiment.lock.protocols:
        extra = (protocol, EvaluatorKind.JUDGE)
        if protocol in WHOLE and extra not in asked and judges_of(protocol, here):
            asked.append(extra)
    pairs = [pair_round(store, experiment, here)] if (Protocol.PAIRWISE, EvaluatorKind.JUDGE) in asked else []
    singly = [(protocol, by) for protocol, by in asked if protocol is not Protocol.PAIRWISE]
    return [*(current_round(store, experiment, protocol, by, here) for protocol, by in singly), *filter(None, pairs)]


def pair_round(store: Store, experiment: Experiment, here: Evaluators) -> Round | None:
    """The judges' round of pairs in force, drawn and opened once nothing of the experiment is open any more; more pairs
    are drawn for work that came after that.

    None until then, where no judge is configured for pairs, and where no two agents share an instance.
    """
    if not judges_of(Protocol.PAIRWISE, here):
        return None
    with alone(store, f"round:{experiment.id}"):
        found = round_in_force(store, experiment, Protocol.PAIRWISE, EvaluatorKind.JUDGE)
        if store.open_slots(experiment.id):
            return found
        known = [] if found is None else drawn_pairs(store, found)
        work = entries_of(store, live_submissions(store, experiment.id))
        try:
            drawn = sample_pairs(work, PER_PAIR, experiment.seed, known)
        except PlanError:  # one agent alone, or none two of which share an instance
            return None
        if found is not None:
            _draw_later(store, experiment, found, drawn)
            return found
        return open_round(
            store, experiment=experiment.id, protocol=Protocol.PAIRWISE, author=experiment.author, reason=REASON,
            asks=asks_of(Protocol.PAIRWISE, EvaluatorKind.JUDGE, here),
            pairs=[(pair.first.subject, pair.second.subject) for pair in drawn],
        )  # fmt: skip


def _draw_later(store: Store, experiment: Experiment, judged: Round, drawn: Sequence[Pair]) -> None:
    """Note the pairs that a judge's round is asked besides; none, where nothing came."""
    if not drawn:
        return
    pairs = [(pair.first.subject, pair.second.subject) for pair in drawn]
    more = Round(
        id=uuid.uuid4().hex, protocol=judged.protocol, by=judged.by, purpose=Purpose.LATER_PAIRS, over=judged.id,
        subjects=tuple(dict.fromkeys(id for pair in pairs for id in pair)), overlap=judged.overlap, rule=judged.rule,
        gradings=judged.gradings, versions={PAIRS: put_canonical(store.blobs, [list(pair) for pair in pairs])},
        reason=LATER, author=experiment.author, at=now(),
    )  # fmt: skip
    store.commit(more)


def current_round(
    store: Store, experiment: Experiment, protocol: Protocol | None = None, by: EvaluatorKind | None = None,
    here: Evaluators | None = None,
) -> Round:  # fmt: skip
    """The round in force over the experiment under a protocol (its first) by a kind of evaluator (the protocol's usual
    one); opened where there is none yet.

    What is graded as trials close goes into it, so once a regrade is adopted new trials meet the new graders.
    """
    protocol = protocol or experiment.lock.protocol
    by = by or usual(protocol)
    with alone(store, f"round:{experiment.id}"):
        found = round_in_force(store, experiment, protocol, by)
        if found is not None:
            return found
        gradings = _gradings(store, experiment, protocol, by)
        asks = asks_of(protocol, by, here or Evaluators())
        return open_round(
            store, experiment=experiment.id, protocol=protocol, author=experiment.author, reason=REASON,
            gradings=gradings, asks=asks,
        )  # fmt: skip


def round_in_force(store: Store, experiment: Experiment, protocol: Protocol, by: EvaluatorKind) -> Round | None:
    """The round over the experiment that decides under the protocol what a kind of evaluator says."""
    rounds = InForce(store.find(Round, experiment=experiment.id), store.find(Amendment, target="round"))
    return next((r for r in reversed(rounds.deciding(protocol)) if r.by is by), None)


def _gradings(store: Store, experiment: Experiment, protocol: Protocol, by: EvaluatorKind) -> dict[str, str] | None:
    """Of the instances of which this kind answers something; None, which is all, where that is a matter of asking."""
    instances = [store.get(Instance, id) for id in experiment.lock.instances]
    graded = [i for i in instances if protocol in i.grading]
    return {i.id: i.grading_digest(protocol) for i in graded if by in kinds_of(i.grading[protocol])} or None


def asks_of(protocol: Protocol, by: EvaluatorKind, here: Evaluators) -> EvaluatorPanel:
    """Programs once. Judges as often as they repeat: votes and criteria by the majority, points by their mean."""
    if by is not EvaluatorKind.JUDGE:
        return EvaluatorPanel(by)
    overlap = sum(judge.repeats for judge in judges_of(protocol, here))
    if overlap <= 1:
        return EvaluatorPanel(by)
    points = protocol in (Protocol.PROGRAM, Protocol.CHECKPOINTS)
    return EvaluatorPanel(by, overlap, ResolutionRule.MEAN if points else ResolutionRule.MAJORITY)


def judges_of(protocol: Protocol, here: Evaluators) -> Sequence[Evaluates]:
    """The judges that are configured for rounds under a protocol."""
    draft = Round(id="draft", protocol=protocol, by=EvaluatorKind.JUDGE, subjects=("draft",), author="draft", at=now())
    return here.judges(draft)
