"""Rounds that an experiment opens for people and extends as its trials finish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from worksample.errors import PlanError
from worksample.people.clock import Clock, now_in_microseconds
from worksample.people.judging.queue_sync import follow_all_amendments
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol, Round
from worksample.store.people_tables import items, queues

from .calibration_rounds import calibration_rounds, round_in_force
from .instructions import Instructions, shipped_instructions
from .item_plan import RoundForm
from .judging_forms import BY_CRITERIA, FORM_OF, SPECS, RoundKind, votes_of
from .open_round import open_people_round, top_up
from .pilot_gate import require_passed_pilot
from .queue_filling import fill_queue
from .round_config import PeopleRound
from .round_subjects import submissions_of

if TYPE_CHECKING:
    from worksample.store import Store

WAIVED = "an experiment's own round: its plan was kept before there was any work to try the instructions on"
REASON = "judged as trials closed"


def kind_of(protocol: Protocol) -> RoundKind:
    """Return the kind of round in which people judge under a protocol; the rubric kind for protocols of criteria."""
    return RoundKind(protocol.value) if protocol.value in set(RoundKind) else RoundKind.RUBRIC


@dataclass(frozen=True)
class Effort:
    """Human work that one item needs."""

    votes: int
    minutes: float
    """Most minutes per vote: the form's soft limit."""


def effort_of(protocol: Protocol, overlap: int | None = None) -> Effort:
    """Return the human work for one submission (for pairs: one pair)."""
    kind = kind_of(protocol)
    return Effort(overlap or votes_of(kind)[1], SPECS[FORM_OF[kind]].minutes)


@dataclass(frozen=True)
class ExperimentRounds:
    """Rounds of an experiment. `overlap`: evaluations per submission; None for the default of the kind."""

    overlap: int | None = None
    instructions: Instructions | None = None
    clock: Clock = now_in_microseconds

    def fill(self, store: Store, experiment: Experiment, protocol: Protocol) -> int:
        """Open the round in force or add new submissions to it. Return the number of items added.

        One process at a time may call this for an experiment. After a crash at any step, the next call completes the
        work. Pairs are drawn when no slot of the experiment is open, and further ones for work that arrives later.
        Returns 0 before that, and if nothing can be compared.
        """
        judges = calibration_rounds(store, experiment, protocol, self.overlap, self.instructions, self.clock)
        if judges is None:
            return self._ensure_round(store, experiment, protocol)
        # Holistic work is then the judge's; people label the sample.
        return judges.fill() + (self._ensure_round(store, experiment, protocol) if protocol in BY_CRITERIA else 0)

    def _ensure_round(self, store: Store, experiment: Experiment, protocol: Protocol) -> int:
        round = round_in_force(store, experiment.id, protocol, EvaluatorKind.PERSON)
        if round is not None:
            return self._complete(store, round)
        pairs, kind = protocol is Protocol.PAIRWISE, kind_of(protocol)
        asked = _has_questions(store, experiment, RoundForm(FORM_OF[kind], protocol))
        if not asked or (pairs and store.open_slots(experiment.id)):
            return 0
        instructions = self.instructions or shipped_instructions()
        config = PeopleRound(
            kind=kind_of(protocol), experiment=experiment.id, overlap=self.overlap, reason=REASON,
            protocol=protocol if protocol in BY_CRITERIA else None,
            waive_pilot=_waiver(store, instructions),
        )  # fmt: skip
        try:
            made = open_people_round(store, config, instructions, author=experiment.author, clock=self.clock)
        except PlanError:
            if pairs:  # a single agent, or no two agents share an instance
                return 0
            raise
        return _items(store, made.id)

    def _complete(self, store: Store, round: Round) -> int:
        with store.database.reading() as connection:
            lost = connection.execute(select(queues.c.round).where(queues.c.round == round.id)).first() is None
        # A crash came between round and queue; a round of imported judgments has no plan and no queue.
        came = fill_queue(store, round, self.clock()) if lost and "people.plan" in round.versions else 0
        if lost and not came:
            return 0
        return came + top_up(store, round.id) + follow_all_amendments(store, round.id)


def _has_questions(store: Store, experiment: Experiment, asking: RoundForm) -> bool:
    """Tell whether people are asked anything about the work delivered so far."""
    delivered = {s.instance for s in submissions_of(store, experiment.id)}
    return any(asking.of(store.get(Instance, id)) for id in delivered)


def _waiver(store: Store, instructions: Instructions) -> str:
    try:
        require_passed_pilot(store, instructions.digest)
    except PlanError:
        return WAIVED
    return ""


def _items(store: Store, round: str) -> int:
    with store.database.reading() as connection:
        query = select(func.count()).select_from(items).where(items.c.queue == round)
        return int(connection.execute(query).scalar_one())
