"""Random experiments with arms, attempts, rounds of every purpose, strikes and adoptions, and what they come to by the
oracle: worked out here from the records alone, one submission at a time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date

from reports.people_world import JUDGES, PeopleWorld
from results import oracle
from store import worlds
from worksample.errors import Cause
from worksample.records import (
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Importance,
    PartPayload,
    Payload,
    Protocol,
    Purpose,
    ResolutionRule,
    Round,
    SkipReason,
)
from worksample.store import Store

AGENTS = ("ann", "bob")
PROJECTS = 3
KIND_OF_ROUND = (EvaluatorKind.PERSON, EvaluatorKind.PERSON, EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE)
KINDS = (Importance.CRITICAL, Importance.IMPORTANT, Importance.OPTIONAL)


@dataclass
class RandomWorld:
    """`made`: submission -> (agent's name, arm, attempt)."""

    store: Store
    rng: random.Random
    protocol: Protocol
    rounds: list[Round] = field(default_factory=list)
    said: list[Evaluation] = field(default_factory=list)
    amendments: list[Amendment] = field(default_factory=list)
    made: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    minute: int = 10

    def __post_init__(self) -> None:
        agents = [Agent.of(n, "worker", model=f"m/{n}", release_date=date(2026, 1, 1)) for n in AGENTS]
        self.world = PeopleWorld(self.store, self.protocol, agents, [100.0, 200.0, 400.0], attempts=2)
        self.arms = self.rng.choice([("plain",), ("plain", "hints")])
        attempts = self.rng.choice([(1,), (1, 2)])
        for a, name in enumerate(AGENTS):
            for arm in self.arms:
                for n in range(PROJECTS):
                    for attempt in attempts if self.rng.random() < 0.7 else (1,):
                        id = self.world.work(a, n, attempt, arm=arm)
                        self.made[id] = (name, arm, attempt)
        self.open("r0")
        for _ in range(self.rng.randrange(4)):
            self.happen()

    def now(self) -> int:
        self.minute += 1
        return self.minute

    def open(self, id: str, purpose: Purpose = Purpose.GRADING, over: str | None = None) -> None:
        look = purpose not in (Purpose.GRADING, Purpose.REGRADE)
        rule, overlap = self.rng.choice(
            [
                (ResolutionRule.LATEST, 1),
                (ResolutionRule.MAJORITY, 3),
                (ResolutionRule.TIE_BREAK, 2),
                (ResolutionRule.MEAN, 2),
            ]
        )
        if (self.protocol is Protocol.HOLISTIC and rule is ResolutionRule.MEAN) or look:
            rule, overlap = ResolutionRule.LATEST, 1
        subjects = tuple(self.rng.sample(sorted(self.made), min(4, len(self.made)))) if look else ()
        by = self.rng.choice(KIND_OF_ROUND)
        round = Round(
            id=id, protocol=self.protocol, by=by, purpose=purpose, over=over, experiment=None if look else "x1",
            rule=rule,
            overlap=overlap, subjects=subjects, seed=len(self.rounds), author="me", at=worlds.at(self.now()),
            # So the app shows it: nobody asks for these votes, they are there.
            versions={"imported": "1"} if by is EvaluatorKind.PERSON else {},
        )  # fmt: skip
        self.rounds.append(round)
        self.store.commit(round)
        for subject in subjects or sorted(self.made):
            for judge in self.rng.sample(JUDGES, self.rng.choice([overlap, overlap, overlap, max(1, overlap - 1), 0])):
                self.say(round, subject, judge)

    def say(self, round: Round, subject: str, judge: str) -> None:
        given = self.rng.random() < 0.9
        cause = self.rng.choice([Cause.GRADER_TIME, Cause.GRADER_SANDBOX])
        made = Evaluation(
            id=f"e{len(self.said)}", round=round.id, subject=subject, evaluator=judge, author="me",
            instance=self.world.instances[int(subject.split("-")[2])].id, at=worlds.at(self.now()),
            outcome=EvaluationOutcome.GIVEN if given else EvaluationOutcome.FAILED, cause=None if given else cause,
            payload=self.payload() if given else None,
        )  # fmt: skip
        self.said.append(made)
        self.store.commit(made)

    def payload(self) -> Payload:
        if self.protocol is Protocol.HOLISTIC:
            return Holistic(score=self.rng.choice([1, 2, 3]))
        parts = []
        for kind in KINDS:
            skip = self.rng.choice([None] * 9 + [SkipReason.NOT_APPLICABLE, SkipReason.CANNOT_JUDGE])
            fraction = None if skip else float(self.rng.random() < 0.8)
            parts.append(PartPayload(name=kind.value, importance=kind, fraction=fraction, skip=skip))
        counted = [p.fraction for p in parts if p.fraction is not None]
        return GradePayload(score=sum(counted) / len(counted) if counted else 0.0, parts=tuple(parts))

    def happen(self) -> None:
        n = len(self.rounds)
        match self.rng.randrange(6):
            case 0:
                self.open(f"r{n}")
            case 1:
                self.open(f"r{n}", Purpose.REGRADE, self.rng.choice(self.rounds).id)
            case 2:
                purpose = self.rng.choice([Purpose.AUDIT, Purpose.ADJUDICATION, Purpose.RELIABILITY, Purpose.INTEGRITY])
                self.open(f"r{n}", purpose, self.rng.choice(self.rounds).id)
            case 3:
                deciding = [r for r in self.rounds if r.purpose in (Purpose.GRADING, Purpose.REGRADE)]
                self.amend(AmendmentAction.ADOPT, AmendmentTarget.ROUND, self.rng.choice(deciding).id)
            case 4:
                action = self.rng.choice([AmendmentAction.STRIKE, AmendmentAction.STRIKE, AmendmentAction.RESTORE])
                self.amend(action, AmendmentTarget.ROUND, self.rng.choice(self.rounds).id)
            case _:
                targets = [(AmendmentTarget.SUBMISSION, s) for s in sorted(self.made)] + [
                    (AmendmentTarget.EVALUATOR, JUDGES[0])
                ]
                targets += [(AmendmentTarget.EVALUATION, e.id) for e in self.said] if self.said else []
                self.amend(AmendmentAction.STRIKE, *self.rng.choice(targets))

    def amend(self, action: AmendmentAction, target: AmendmentTarget, id: str) -> None:
        made = Amendment(
            id=f"a{len(self.amendments)}", action=action, target=target, target_id=id, reason="so", author="me",
            at=worlds.at(self.now()),
        )  # fmt: skip
        self.amendments.append(made)
        self.store.commit(made)

    # -- the truth

    def in_force(self) -> Round | None:
        """The round that decides: of the kind of evaluator that comes first, the one that came into force last."""
        since = {r.id: r.at for r in self.rounds if r.purpose is Purpose.GRADING}
        gone = set()
        for a in self.amendments:
            if a.target is not AmendmentTarget.ROUND:
                continue
            gone = gone | {a.target_id} if a.action is AmendmentAction.STRIKE else gone - {a.target_id}
            if a.action is AmendmentAction.ADOPT:
                since[a.target_id] = a.at
        found = [r for r in self.rounds if r.id in since and r.id not in gone]
        programs = self.protocol is Protocol.PROGRAM
        order = ("program", "person", "judge") if programs else ("person", "program", "judge")
        first = next((kind for kind in order if any(r.by == kind for r in found)), None)
        return max((r for r in found if r.by == first), key=lambda r: (since[r.id], r.at), default=None)

    def verdicts(self) -> dict[str, oracle.Told]:
        """Submission -> what it comes to; nothing where no round decides."""
        round = self.in_force()
        if round is None:
            return {}
        votes = oracle.verdicts(round, self.said, self.amendments)
        looks: dict[Purpose, dict[str, oracle.Told]] = {Purpose.AUDIT: {}, Purpose.ADJUDICATION: {}}
        for look in self.rounds:
            if look.over == round.id and look.purpose in looks and look.by in (round.by, EvaluatorKind.PERSON):
                told = oracle.verdicts(look, self.said, self.amendments)
                looks[look.purpose] |= {s: v for s, v in told.items() if v["standing"] == "decided"}
        return oracle.overruled(votes, looks[Purpose.AUDIT], looks[Purpose.ADJUDICATION])

    def cells(self) -> dict[tuple[str, str, int], list[oracle.Told | None]]:
        """Per agent, arm and attempt the verdicts of its submissions; None where there is none."""
        told = self.verdicts()
        out: dict[tuple[str, str, int], list[oracle.Told | None]] = {}
        for id, place in self.made.items():
            out.setdefault(place, []).append(told.get(id))
        return out
