"""Random work whose criteria are asked of programs, judges and people, and what it comes to by the oracle."""

from __future__ import annotations

import random
from collections.abc import Sequence

from reports.people_world import JUDGES, PeopleWorld
from results import oracle
from store import worlds
from worksample.errors import Cause
from worksample.records import (
    Agent,
    By,
    CheckpointKind,
    Criteria,
    Criterion,
    Evaluation,
    EvaluationOutcome,
    EvaluatorKind,
    GradePayload,
    Grading,
    Importance,
    Instance,
    PartPayload,
    Protocol,
    ResolutionRule,
    Round,
    SkipReason,
)
from worksample.records.criteria import asked_of
from worksample.store import Store

PROJECTS = 15
RULES = (
    (ResolutionRule.LATEST, 1),
    (ResolutionRule.LATEST, 1),
    (ResolutionRule.MAJORITY, 3),
    (ResolutionRule.TIE_BREAK, 2),
    (ResolutionRule.MEAN, 2),
)


def some_criteria(rng: random.Random, *, rubric: bool) -> Criteria:
    """A tree of at most two levels, decided by one to three kinds."""
    kinds = rng.sample(list(By), rng.choice([1, 2, 2, 3, 3]))
    top = []
    for n in range(rng.randint(2, 4)):
        size = rng.choice([0, 0, 2, 3])
        parts = tuple(_leaf(rng, f"c{n}-{m}", kinds, rubric=rubric) for m in range(size))
        gate = rng.random() < 0.2
        if parts:
            top.append(Criterion(id=f"c{n}", text="both", parts=parts, gate=gate))
        else:
            top.append(_leaf(rng, f"c{n}", kinds, rubric=rubric))
    if rng.random() < 0.3:
        top[-1] = top[-1].model_copy(update={"implies_others": True})
    return Criteria(criteria=tuple(top))


def _leaf(rng: random.Random, id: str, kinds: Sequence[By], *, rubric: bool) -> Criterion:
    weight = {"importance": rng.choice(list(Importance))} if rubric else {"points": float(rng.randint(1, 3))}
    return Criterion.model_validate(
        {"id": id, "text": id, "by": rng.choice(kinds), "kind": rng.choice(list(CheckpointKind)),
         "gate": rng.random() < 0.2, **weight}, strict=False
    )  # fmt: skip


def some_grade(rng: random.Random, nodes: Sequence[Criterion], good: float) -> GradePayload:
    """Parts named after criteria; now and then one is missing, or a branch is answered as a whole."""
    parts = tuple(p for node in nodes if (p := _part(rng, node, good)) is not None)
    return GradePayload(score=rng.choice([0.0, 0.5, 1.0]), parts=parts, reason="so it is")


def _part(rng: random.Random, node: Criterion, good: float) -> PartPayload | None:
    if rng.random() < 0.01:
        return None
    inner: tuple[PartPayload, ...] = ()
    skip = rng.choice([SkipReason.NOT_APPLICABLE, SkipReason.CANNOT_JUDGE]) if rng.random() < 0.04 else None
    if node.parts and rng.random() < 0.9 and skip is None:
        inner = tuple(p for part in node.parts if (p := _part(rng, part, good)) is not None)
    fraction = None if skip else 1.0 if rng.random() < good else rng.choice([0.0, 0.4])
    return PartPayload(
        name=node.id, points=node.worth, fraction=fraction, skip=skip, importance=node.importance, gate=node.gate,
        parts=inner,
    )  # fmt: skip


class JoinedWorld(PeopleWorld):
    """One agent, a project for each of many criteria; up to one round per kind of evaluator."""

    def __init__(self, store: Store, protocol: Protocol, rng: random.Random) -> None:
        self.rng = rng
        super().__init__(store, protocol, [Agent.of("ann", "worker", model="m/1")], [1.0] * PROJECTS)
        self.made = {n: self.work(0, n) for n in range(PROJECTS)}
        self.rounds: dict[str, Round] = {}
        self.evaluations: list[Evaluation] = []
        good = rng.choice([0.8, 0.97])
        for kind in EvaluatorKind:
            if rng.random() < 0.9:
                self._open(kind, good)

    def _project(self, n: int, price: float | None) -> Instance:
        plain = super()._project(n, price)
        criteria = some_criteria(self.rng, rubric=self.protocol is Protocol.RUBRIC)
        grading = Grading(protocol=self.protocol, criteria=criteria, reference=worlds.EMPTY, grader=worlds.EMPTY)
        return plain.replaced(grading={self.protocol: grading})

    def criteria(self, n: int) -> Criteria:
        return self.instances[n].grading[self.protocol].criteria

    def _open(self, kind: EvaluatorKind, good: float) -> None:
        rule, overlap = self.rng.choice(RULES)
        round = self.round(f"r-{kind}", self.protocol, overlap, rule=rule, by=kind)
        self.rounds[kind.value] = round
        for n, subject in self.made.items():
            full = self.rng.random() < 0.2
            nodes = self.criteria(n).criteria if full else asked_of(self.criteria(n).criteria, kind.value)
            few = self.rng.random() < 0.1
            for judge in JUDGES[: max(0, overlap - few)]:
                if nodes:
                    self._give(round, n, subject, judge, some_grade(self.rng, nodes, good))

    def _give(self, round: Round, n: int, subject: str, judge: str, grade: GradePayload) -> None:
        failed = self.rng.random() < 0.05
        minute = 10 + len(self.evaluations)
        made = Evaluation(
            id=f"e{minute}",
            round=round.id,
            subject=subject,
            instance=self.instances[n].id,
            evaluator=judge,
            outcome=EvaluationOutcome.FAILED if failed else EvaluationOutcome.GIVEN,
            payload=None if failed else grade,
            author="me",
            cause=self.rng.choice([Cause.GRADER_TIME, Cause.JUDGE_ERROR]) if failed else None,
            at=worlds.at(minute),
        )
        self.evaluations.append(made)
        self.store.commit(made)

    def told(self, n: int, only: str | None = None) -> oracle.Told:
        """By the oracle, of a project whose criteria are not all a program's."""
        said = {
            kind: [e for e in self.evaluations if e.round == round.id and e.subject == self.made[n]]
            for kind, round in self.rounds.items()
        }
        return oracle.joined(self.protocol, self.criteria(n), self.rounds, said, only)
