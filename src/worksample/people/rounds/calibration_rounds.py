"""Calibration of an experiment's judges: people label a drawn sample, then decide work that judges may not decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample.people.judging.queue_sync import follow_all_amendments
from worksample.records import (
    Amendment,
    AmendmentTarget,
    EvaluatorKind,
    Experiment,
    Protocol,
    Round,
    struck,
)
from worksample.results.calibration.config import CalibrationConfig, calibration_of
from worksample.results.calibration.label_draw import DRAWN, keep_draw, planned_draw
from worksample.results.calibration.label_rounds import (
    LabelRound,
    count_missing_labels,
    drawn_submissions,
    labels_of,
    sent_to_people,
)
from worksample.results.deciding_rounds import RoundsInForce
from worksample.results.pair_sampling import drawn_pairs, key_of
from worksample.results.second_looks import ROUTED
from worksample.store import put_canonical
from worksample.store.people_tables import queues

from .instructions import Instructions, shipped_instructions
from .judging_forms import BY_CRITERIA, FORM_OF, RoundKind, roles_of, votes_of
from .open_round import add_pairs, open_people_round, top_up
from .queue_filling import fill_queue
from .queues import CLOSED, set_state
from .round_config import PeopleRound

if TYPE_CHECKING:
    from worksample.people.clock import Clock
    from worksample.store import Store

WAIVED = "labels of a judge's work: their plan was kept before there was any work to try the instructions on"
LABELS = "people's labels of what a judge says"
GOES = "goes to people: the judge may not decide it"


def round_in_force(store: Store, experiment: str, protocol: Protocol, by: EvaluatorKind) -> Round | None:
    """Return the round of this kind of evaluator that decides under the protocol; None if there is none."""
    rounds = RoundsInForce(store.find(Round, experiment=experiment), store.find(Amendment, target="round"))
    return next((r for r in reversed(rounds.deciding(protocol)) if r.by is by), None)


class CalibrationRounds:
    """The calibration rounds of one protocol: labels first, then the work routed to people.

    One process at a time may use it for an experiment. After a crash at any step, the next call completes the work.
    """

    def __init__(
        self, store: Store, experiment: Experiment, protocol: Protocol, config: CalibrationConfig,
        overlap: int | None, instructions: Instructions | None, clock: Clock,
    ) -> None:  # fmt: skip
        self.store, self.experiment, self.protocol, self.config = store, experiment, protocol, config
        self.kind = RoundKind.RUBRIC if protocol in BY_CRITERIA else RoundKind(protocol.value)
        rule, votes = votes_of(self.kind)
        self.rule, self.overlap = rule, overlap or votes
        self.instructions, self.clock = instructions or shipped_instructions(), clock

    def fill(self) -> int:
        """Open or extend the rounds. Return the number of items added."""
        judged = round_in_force(self.store, self.experiment.id, self.protocol, EvaluatorKind.JUDGE)
        if judged is None:
            return 0
        labels = labels_of(self.store, self.experiment.id, self.protocol)
        if labels is None:
            return self._open(judged)
        came = self._complete(labels.round) + top_up(self.store, labels.round.id)
        if self.protocol is Protocol.PAIRWISE:
            drawn = [pair for pair in drawn_pairs(self.store, judged) if key_of(*pair) in labels.draw.drawn]
            came += add_pairs(self.store, labels.round.id, drawn)
        for round in self._routed_rounds(judged):
            came += self._complete(round)
        came += sum(
            follow_all_amendments(self.store, round.id) for round in (labels.round, *self._routed_rounds(judged))
        )
        return came or self._send_on(judged, labels)

    def _open(self, judged: Round) -> int:
        self._retire()
        pairs: tuple[tuple[str, str], ...] = ()
        if self.protocol is Protocol.PAIRWISE:
            from worksample.results.calibration.pair_calibration import draw_pairs

            draw = draw_pairs(self.store, self.experiment, judged, self.config)
            pairs = tuple(pair for pair in drawn_pairs(self.store, judged) if key_of(*pair) in draw.drawn)
            subjects = tuple(dict.fromkeys(id for pair in pairs for id in pair))
        else:
            draw = planned_draw(self.store, self.experiment, judged, self.config)
            subjects = tuple(drawn_submissions(self.store, self.experiment.id, draw))
        if not subjects:
            return 0
        made = open_people_round(
            self.store,
            PeopleRound(
                kind=self.kind, experiment=self.experiment.id, over=judged.id, subjects=subjects, rule=self.rule,
                pairs=pairs, overlap=self.overlap, reason=LABELS, waive_pilot=WAIVED, seed=self.config.seed,
                versions={DRAWN: keep_draw(self.store, draw)},
            ),
            self.instructions, author=self.experiment.author, clock=self.clock,
        )  # fmt: skip
        assert made.experiment == self.experiment.id
        return len(pairs or subjects)

    def _retire(self) -> None:
        """Close the queues that label another rubric's answers or decide work under that rubric."""
        mine = self.store.find(Round, experiment=self.experiment.id)
        old = [r for r in mine if DRAWN in r.versions and r.protocol is self.protocol]
        old += [r for judged in old for r in self.store.find(Round, over=judged.over) if ROUTED in r.versions]
        with self.store.database.reading() as connection:
            there = set(connection.execute(select(queues.c.round)).scalars())
        for round in old:
            if round.id in there:
                set_state(self.store, round.id, CLOSED)

    def _complete(self, round: Round) -> int:
        """Fill the queue of a round if a crash prevented this. Return the number of items added."""
        with self.store.database.reading() as connection:
            if connection.execute(select(queues.c.round).where(queues.c.round == round.id)).first() is not None:
                return 0
        return fill_queue(self.store, round, self.clock())

    def _routed_rounds(self, judged: Round) -> list[Round]:
        out = struck(self.store.find(Amendment, target="round"))
        found = [r for r in self.store.find(Round, over=judged.id) if ROUTED in r.versions]
        return [r for r in found if (AmendmentTarget.ROUND, r.id) not in out]

    def _send_on(self, judged: Round, labels: LabelRound) -> int:
        if not self.config.route or self.store.open_slots(self.experiment.id):
            return 0
        if count_missing_labels(self.store, self.experiment, labels):
            return 0
        from worksample.results.calibration.human_routing import prove_cells, route_to_people

        sent = sent_to_people(self.store, judged.id)
        if self.protocol is Protocol.PAIRWISE:
            from worksample.results.calibration.pair_calibration import pair_cells, routed_pairs

            told = routed_pairs(pair_cells(self.store, self.experiment, judged, labels, self.config), self.config)
        else:
            told = route_to_people(
                prove_cells(self.store, self.experiment, self.protocol, judged, labels, self.config), self.config
            )
        why = {subject: reason for subject, reason in told.items() if subject not in sent}
        return self._send(judged, why) if why else 0

    def _send(self, judged: Round, why: Mapping[str, str]) -> int:
        # For pairs, `why` uses their keys.
        pairs = tuple(pair for pair in drawn_pairs(self.store, judged) if key_of(*pair) in why)
        subjects = tuple(dict.fromkeys(id for pair in pairs for id in pair)) or tuple(sorted(why))
        config = PeopleRound(
            kind=RoundKind.ADJUDICATION, over=judged.id, subjects=subjects, pairs=pairs, rule=self.rule,
            overlap=self.overlap,
            roles=roles_of(self.kind) | roles_of(RoundKind.ADJUDICATION), reason=GOES, seed=self.config.seed,
            form=FORM_OF[self.kind], versions={ROUTED: put_canonical(self.store.blobs, dict(sorted(why.items())))},
        )  # fmt: skip
        open_people_round(
            self.store, config, self.instructions, author=self.experiment.author, clock=self.clock
        )  # fmt: skip
        return len(why)


def calibration_rounds(
    store: Store, experiment: Experiment, protocol: Protocol, overlap: int | None, instructions: Instructions | None,
    clock: Clock,
) -> CalibrationRounds | None:  # fmt: skip
    """Return the calibration rounds of a protocol; None if its judges are not calibrated."""
    config = calibration_of(experiment)
    if config is None or protocol not in config.protocols:
        return None
    return CalibrationRounds(store, experiment, protocol, config, overlap, instructions, clock)
