"""Rounds of an experiment: one round for each protocol and each kind of evaluator that its criteria name."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from worksample.errors import PlanError, Superseded
from worksample.grading import EvaluatorPanel, Evaluators, RoundEvaluator, open_round
from worksample.grading.evaluator_kinds import default_evaluator, evaluator_kinds
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
from worksample.results.calibration.config import calibrated_protocols
from worksample.results.deciding_rounds import RoundsInForce
from worksample.results.pair_sampling import PAIRS, PER_PAIR, Pair, drawn_pairs, entries_of, sample_pairs
from worksample.store import Store, put_canonical

from .exclusive_lease import exclusively

if TYPE_CHECKING:
    from collections.abc import Sequence

REASON = "graded as trials closed"
LATER = "pairs of work that came later"
WHOLE = frozenset({Protocol.HOLISTIC, Protocol.PAIRWISE})
"""Protocols that judge work as a whole. People judge under these protocols, and judges do if one is configured."""
FillRounds = Callable[[Store, Experiment, Protocol], int]
"""Callback that opens or fills the people's round of an experiment under a protocol. It returns the number of new
items.

The packages `people` and `experiments` do not import each other. The caller of a run (command line or app) passes
`people.rounds.experiment_rounds.ExperimentRounds.fill`. Without this callback, rounds for people wait.
"""


def required_evaluators(
    instances: Iterable[Instance], protocols: Iterable[Protocol], calibrated: Collection[Protocol] = ()
) -> list[tuple[Protocol, EvaluatorKind]]:
    """Return the pairs of protocol and kind of evaluator that an experiment needs. Programs come before judges, and
    judges before people.

    The kinds are those that the criteria of the instances name. If a protocol judges work as a whole and is in
    `calibrated`, a judge evaluates all work, and people only label a sample.
    """
    known = list(instances)
    order = (EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE, EvaluatorKind.PERSON)
    found = []
    for protocol in protocols:
        named = {kind for i in known if protocol in i.grading for kind in evaluator_kinds(i.grading[protocol])}
        if protocol in WHOLE and protocol in calibrated:
            named = {EvaluatorKind.JUDGE}
        found += [(protocol, kind) for kind in order if kind in named]
    return found


def own_rounds(store: Store, experiment: Experiment, here: Evaluators) -> list[Round]:
    """Return the rounds in force for programs and judges, in the order of the protocols. Missing rounds are opened.

    If criteria name a judge and no judge is configured, the round is opened and waits. If work is judged as a whole, a
    judges' round is opened only if a judge is configured.
    """
    instances = [store.get(Instance, id) for id in experiment.lock.instances]
    every = required_evaluators(instances, experiment.lock.protocols, calibrated_protocols(experiment))
    asked = [pair for pair in every if pair[1] is not EvaluatorKind.PERSON]
    for protocol in experiment.lock.protocols:
        extra = (protocol, EvaluatorKind.JUDGE)
        if protocol in WHOLE and extra not in asked and judges_of(protocol, here):
            asked.append(extra)
    pairs = [pair_round(store, experiment, here)] if (Protocol.PAIRWISE, EvaluatorKind.JUDGE) in asked else []
    singly = [(protocol, by) for protocol, by in asked if protocol is not Protocol.PAIRWISE]
    return [*(current_round(store, experiment, protocol, by, here) for protocol, by in singly), *filter(None, pairs)]


def pair_round(store: Store, experiment: Experiment, here: Evaluators) -> Round | None:
    """Return the judges' round of pairs in force. The round is opened when no slot is open any more; later work adds
    pairs.

    Return None if slots are still open, if no judge is configured for pairs, or if no two agents worked on the same
    instance.
    """
    if not judges_of(Protocol.PAIRWISE, here):
        return None
    with exclusively(store, f"round:{experiment.id}"):
        found = round_in_force(store, experiment, Protocol.PAIRWISE, EvaluatorKind.JUDGE)
        if store.open_slots(experiment.id):
            return found
        known = [] if found is None else drawn_pairs(store, found)
        work = entries_of(store, live_submissions(store, experiment.id))
        try:
            drawn = sample_pairs(work, PER_PAIR, experiment.seed, known)
        except PlanError:  # only one agent, or no two agents share an instance
            return None
        if found is not None:
            _add_later_pairs(store, experiment, found, drawn)
            return found
        return open_round(
            store, experiment=experiment.id, protocol=Protocol.PAIRWISE, author=experiment.author, reason=REASON,
            asks=panel_of(Protocol.PAIRWISE, EvaluatorKind.JUDGE, here),
            pairs=[(pair.first.subject, pair.second.subject) for pair in drawn],
        )  # fmt: skip


def _add_later_pairs(store: Store, experiment: Experiment, judged: Round, drawn: Sequence[Pair]) -> None:
    """Commit pairs that were drawn after the judges' round was opened, as an addition to the round. Do nothing without
    pairs.
    """
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
    """Return the round in force for a protocol (default: the first) and a kind of evaluator (default: the protocol's
    usual kind). A missing round is opened.

    Submissions of new trials go into this round. So they are graded by new graders as soon as a regrade is adopted.
    """
    protocol = protocol or experiment.lock.protocol
    by = by or default_evaluator(protocol)
    with exclusively(store, f"round:{experiment.id}"):
        found = round_in_force(store, experiment, protocol, by)
        if found is not None:
            return found
        gradings = _gradings(store, experiment, protocol, by)
        asks = panel_of(protocol, by, here or Evaluators())
        return open_round(
            store, experiment=experiment.id, protocol=protocol, author=experiment.author, reason=REASON,
            gradings=gradings, asks=asks,
        )  # fmt: skip


def round_in_force(store: Store, experiment: Experiment, protocol: Protocol, by: EvaluatorKind) -> Round | None:
    """Return the experiment's round that decides under the protocol for a kind of evaluator; None if no round was
    opened.
    """
    rounds = RoundsInForce(store.find(Round, experiment=experiment.id), store.find(Amendment, target="round"))
    return next((r for r in reversed(rounds.deciding(protocol)) if r.by is by), None)


def _gradings(store: Store, experiment: Experiment, protocol: Protocol, by: EvaluatorKind) -> dict[str, str] | None:
    """Return the grading digests, by instance id, of the instances whose criteria name this kind of evaluator. Return
    None, which means all instances, if no criterion names it.
    """
    instances = [store.get(Instance, id) for id in experiment.lock.instances]
    graded = [i for i in instances if protocol in i.grading]
    return {i.id: i.grading_digest(protocol) for i in graded if by in evaluator_kinds(i.grading[protocol])} or None


def panel_of(protocol: Protocol, by: EvaluatorKind, here: Evaluators) -> EvaluatorPanel:
    """Return how often each evaluator is called for one submission. Programs are called once. A judge is called as
    often as its setting `repeats` says, and its answers are combined: the majority of votes, or the mean of points.
    """
    if by is not EvaluatorKind.JUDGE:
        return EvaluatorPanel(by)
    overlap = sum(judge.repeats for judge in judges_of(protocol, here))
    if overlap <= 1:
        return EvaluatorPanel(by)
    points = protocol in (Protocol.PROGRAM, Protocol.CHECKPOINTS)
    return EvaluatorPanel(by, overlap, ResolutionRule.MEAN if points else ResolutionRule.MAJORITY)


def judges_of(protocol: Protocol, here: Evaluators) -> Sequence[RoundEvaluator]:
    """Return the judges that are configured for rounds under the protocol."""
    draft = Round(id="draft", protocol=protocol, by=EvaluatorKind.JUDGE, subjects=("draft",), author="draft", at=now())
    return here.judges(draft)


class PeopleRounds:
    """Worker that fills people's rounds after trials have closed. If several trials close while the worker fills
    rounds, one further filling covers all of them.
    """

    def __init__(self, store: Store, experiment: Experiment, people: FillRounds | None) -> None:
        instances = [store.get(Instance, id) for id in experiment.lock.instances]
        judges = calibrated_protocols(experiment)
        asked = required_evaluators(instances, experiment.lock.protocols, judges)
        mine = {protocol for protocol, by in asked if by is EvaluatorKind.PERSON} | judges
        self.protocols = [protocol for protocol in experiment.lock.protocols if protocol in mine]
        self._store, self._experiment, self._people = store, experiment, people
        self._closed = asyncio.Event()

    def wake(self) -> None:
        """Inform the worker that a trial closed."""
        self._closed.set()

    async def work(self) -> None:
        """Fill the people's rounds each time a trial closes, until the task is cancelled."""
        while True:
            await self._closed.wait()
            self._closed.clear()
            await asyncio.to_thread(self.fill)

    def fill(self) -> int:
        """Add all submissions that people must evaluate to the people's rounds. Return the number of new items."""
        if self._people is None or not self.protocols:
            return 0
        # One process at a time: two that open a round at once would give out everything twice.
        try:
            with exclusively(self._store, f"people:{self._experiment.id}"):
                return sum(self._people(self._store, self._experiment, protocol) for protocol in self.protocols)
        except Superseded:  # this process was stalled, and another one took over
            return 0
