"""People's rounds of an experiment's own: opened and topped up as its trials close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from worksample.errors import PlanError
from worksample.people.clock import Clock, wall
from worksample.people.judging.queue_sync import catch_up
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol, Round
from worksample.store.people_tables import items, queues

from .calibration_rounds import calibrating, round_in_force
from .forms import BY_CRITERIA, FORM_OF, SPECS, RoundKind, votes_of
from .instructions import Instructions, shipped
from .item_plan import RoundForm
from .open_round import open_people_round, top_up
from .pilot import opened
from .queue_filling import stock
from .round_config import PeopleRound
from .subjects import submissions_of

if TYPE_CHECKING:
    from worksample.store import Store

WAIVED = "an experiment's own round: its plan was kept before there was any work to try the instructions on"
REASON = "judged as trials closed"


def kind_of(protocol: Protocol) -> RoundKind:
    """The kind of round by which people judge under a protocol: its own, and criteria elsewhere."""
    return RoundKind(protocol.value) if protocol.value in set(RoundKind) else RoundKind.RUBRIC


@dataclass(frozen=True)
class Effort:
    """What one item takes of people."""

    votes: int
    minutes: float
    """Of one vote, at most: the form's soft limit."""


def effort_of(protocol: Protocol, overlap: int | None = None) -> Effort:
    """What judging one submission (of pairs: one pair) takes."""
    kind = kind_of(protocol)
    return Effort(overlap or votes_of(kind)[1], SPECS[FORM_OF[kind]].minutes)


@dataclass(frozen=True)
class OwnRounds:
    """overlap: evaluations of each submission; None: as the kind of round has it."""

    overlap: int | None = None
    instructions: Instructions | None = None
    clock: Clock = wall

    def fill(self, store: Store, experiment: Experiment, protocol: Protocol) -> int:
        """Open the people's round in force, or add what came since; how many items came in.

        Called by one process at a time for an experiment. After a kill at any step it completes what is there. Pairs
        are drawn when nothing of the experiment is open any more, and more of them for work that is handed in after
        that; 0 until then, and where nothing can be compared.
        """
        judges = calibrating(store, experiment, protocol, self.overlap, self.instructions, self.clock)
        if judges is None:
            return self._own(store, experiment, protocol)
        # Work that is judged as a whole is the judge's then, and people's is the sample.
        return judges.fill() + (self._own(store, experiment, protocol) if protocol in BY_CRITERIA else 0)

    def _own(self, store: Store, experiment: Experiment, protocol: Protocol) -> int:
        round = round_in_force(store, experiment.id, protocol, EvaluatorKind.PERSON)
        if round is not None:
            return self._complete(store, round)
        pairs, kind = protocol is Protocol.PAIRWISE, kind_of(protocol)
        asked = _something(store, experiment, RoundForm(FORM_OF[kind], protocol))
        if not asked or (pairs and store.open_slots(experiment.id)):
            return 0
        instructions = self.instructions or shipped()
        config = PeopleRound(
            kind=kind_of(protocol), experiment=experiment.id, overlap=self.overlap, reason=REASON,
            protocol=protocol if protocol in BY_CRITERIA else None,
            waive_pilot=_waiver(store, instructions),
        )  # fmt: skip
        try:
            made = open_people_round(store, config, instructions, author=experiment.author, clock=self.clock)
        except PlanError:
            if pairs:  # one agent alone, or none two of which share an instance
                return 0
            raise
        return _items(store, made.id)

    def _complete(self, store: Store, round: Round) -> int:
        with store.database.reading() as connection:
            lost = connection.execute(select(queues.c.round).where(queues.c.round == round.id)).first() is None
        # Killed between the round and its queue; a round of imported judgments has no plan, and wants nobody.
        came = stock(store, round, self.clock()) if lost and "people.plan" in round.versions else 0
        if lost and not came:
            return 0
        return came + top_up(store, round.id) + catch_up(store, round.id)


def _something(store: Store, experiment: Experiment, asking: RoundForm) -> bool:
    """Whether people are asked anything of what was delivered so far."""
    delivered = {s.instance for s in submissions_of(store, experiment.id)}
    return any(asking.of(store.get(Instance, id)) for id in delivered)


def _waiver(store: Store, instructions: Instructions) -> str:
    try:
        opened(store, instructions.digest)
    except PlanError:
        return WAIVED
    return ""


def _items(store: Store, round: str) -> int:
    with store.database.reading() as connection:
        query = select(func.count()).select_from(items).where(items.c.queue == round)
        return int(connection.execute(query).scalar_one())
