"""Small worlds whose figures can be worked out by hand: people's votes (RLI), rubrics with re-attempts (UpBench)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from store import worlds
from worksample.records import (
    Agent,
    Arm,
    Chain,
    Environment,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    GradePayload,
    Holistic,
    Importance,
    Instance,
    Lock,
    Origin,
    Pairwise,
    PairwiseChoice,
    PartPayload,
    Protocol,
    ResolutionRule,
    Round,
    Slot,
    Source,
    Submission,
    SubmissionPart,
    Trial,
    TrialOutcome,
    Usage,
    Value,
)
from worksample.records.trial import Ending
from worksample.store import Store

JUDGES = ("eva", "ivo", "uma")


class PeopleWorld:
    """Agents on projects, one trial each; prices were paid, and each project has its own task."""

    def __init__(
        self,
        store: Store,
        protocol: Protocol,
        agents: Sequence[Agent],
        prices: Sequence[float | None],
        attempts: int = 1,
        arms: tuple[Arm, ...] = (Arm(),),
    ) -> None:
        self.store, self.protocol, self.agents = store, protocol, agents
        self.instances = [self._project(n, price) for n, price in enumerate(prices)]
        ids = tuple(i.id for i in self.instances)
        chain = Chain(reattempts=attempts - 1) if attempts > 1 else None
        self.experiment = Experiment(
            id="x1",
            name="x",
            agents=tuple(a.id for a in agents),
            arms=arms,
            repeats=1,
            attempts=attempts,
            lock=Lock(suite="s", instances=ids, protocol=protocol, sandbox="bubblewrap", chain=chain),
            author="me",
            at=worlds.START,
        )
        store.blobs.put(worlds.NOTHING)
        judges = [Evaluator(id=j, name=j, type=EvaluatorKind.PERSON, at=worlds.START) for j in JUDGES]
        store.commit(*agents, *self.instances, self.experiment, *judges)
        self.said = 0

    def _project(self, n: int, price: float | None) -> Instance:
        plain = worlds.instance_of(f"p{n}", task=f"job{n}")
        value = None if price is None else Value(low=price, high=price, date=date(2026, 1, 1), source=Source.PAID)
        work = plain.work.replaced(environment=Environment(services=("chat", "git") if n % 2 else ("chat",)))
        about = plain.about.replaced(value=value, tier="easy" if n % 2 else "hard")
        return plain.replaced(about=about, work=work)

    def work(
        self, agent: int, project: int, attempt: int = 1, cost: float | None = 1.0, arm: str = "plain", **rest: Any
    ) -> str:
        """A finished trial and its submission; returns the submission's id."""
        who, instance = self.agents[agent], self.instances[project]
        slot = Slot(
            id=Slot.identify("x1", who.id, instance.id, arm, attempt, 1),
            experiment="x1",
            agent=who.id,
            instance=instance.id,
            arm=arm,
            attempt=attempt,
        )
        alone = sum(a.name == who.name for a in self.agents) == 1
        id = f"{who.name if alone else who.id}-{project}-{attempt}" + ("" if arm == "plain" else f"-{arm}")
        used = Usage(calls=1, input_tokens=10, output_tokens=1, cost=cost, priced=cost is not None)
        trial = Trial(
            id=id, slot=slot.id, experiment="x1", agent=who.id, instance=instance.id, work="0" * 64, capture="0" * 64,
            try_number=1, outcome=TrialOutcome(ending=Ending.DONE), started=worlds.at(0), ended=worlds.at(1),
            working_seconds=30, steps=3, **({"usage": {"agent": used}} | rest),
        )  # fmt: skip
        made = self.submission(f"s-{id}", project, Origin.TRIAL, who.id, trial=id, experiment="x1")
        self.store.commit(slot, trial, made)
        return made.id

    def submission(self, id: str, project: int, origin: Origin, entrant: str, **rest: Any) -> Submission:
        return Submission(
            id=id, instance=self.instances[project].id, work="0" * 64, capture="0" * 64, origin=origin,
            entrant=entrant, at=worlds.at(1), parts={"output": SubmissionPart(manifest=worlds.EMPTY)}, **rest,
        )  # fmt: skip

    def round(self, id: str, protocol: Protocol, overlap: int = 3, **rest: Any) -> Round:
        given = {"experiment": "x1", "rule": ResolutionRule.MAJORITY if overlap > 1 else ResolutionRule.LATEST} | rest
        made = Round(id=id, protocol=protocol, overlap=overlap, author="me", at=worlds.at(2), **given)
        self.store.commit(made)
        return made

    def say(self, round: str, subject: str, project: int, payload: Any, judge: str = "eva", **rest: Any) -> str:
        self.said += 1
        id = f"e{self.said}"
        self.store.commit(
            Evaluation(
                id=id, round=round, subject=subject, instance=self.instances[project].id, evaluator=judge,
                outcome=EvaluationOutcome.GIVEN, payload=payload, author="me", at=worlds.at(3 + self.said), **rest,
            )
        )  # fmt: skip
        return id

    def vote(self, round: str, subject: str, project: int, *scores: int) -> None:
        """Holistic votes by as many judges."""
        for judge, score in zip(JUDGES, scores, strict=False):
            self.say(round, subject, project, Holistic(score=score), judge)  # type: ignore[arg-type]

    def pair(self, round: str, first: str, second: str, project: int, *sides: PairwiseChoice) -> None:
        """Votes on a pair, the same side on both scales."""
        for judge, side in zip(JUDGES, sides, strict=False):
            self.say(round, first, project, Pairwise(completion=side, quality=side), judge, second=second)

    def rubric(self, round: str, subject: str, project: int, *passed: bool | None, **rest: Any) -> None:
        """A critical, an important and an optional criterion; None is a skip that cannot be judged."""
        kinds = (Importance.CRITICAL, Importance.IMPORTANT, Importance.OPTIONAL)
        parts = tuple(
            PartPayload(
                name=k.value,
                importance=k,
                fraction=None if p is None else float(p),
                skip=None if p is not None else "cannot_judge",
            )
            for k, p in zip(kinds, passed, strict=True)
        )
        score = sum(bool(p) for p in passed) / len(passed)
        self.say(round, subject, project, GradePayload(score=score, parts=parts), **rest)


def rli(store: Store) -> PeopleWorld:
    """Three agents, four projects worth 100, 200, 300 and an unknown sum. Verdicts by three votes:

    |         | p0    | p1 (200) | p2 (300) | p3      |
    |---------|-------|----------|----------|---------|
    | ann     | 2 (2,2,1) | 3 (3,3,2) | 1    | 1       |
    | bob     | 1     | 2        | 1        | too few votes |
    | cid     | 1     | 1        | 1        | 1       |
    """
    agents = [
        Agent.of("ann", "worker", model="m/1", release_date=date(2026, 1, 1)),
        Agent.of("bob", "worker", model="m/2", release_date=date(2026, 2, 1)),
        Agent.of("cid", "worker", model="m/3"),
    ]
    world = PeopleWorld(store, Protocol.HOLISTIC, agents, [100, 200, 300, None])
    votes = {
        0: [(2, 2, 1), (3, 3, 2), (1, 1, 1), (1, 1, 2)],
        1: [(1, 1, 1), (2, 2, 2), (1, 1, 1), (2,)],
        2: [(1, 1, 1)] * 4,
    }
    world.round("h1", Protocol.HOLISTIC)
    cost = {0: 10.0, 1: 5.0, 2: None}
    for agent, rows in votes.items():
        for project, scores in enumerate(rows):
            world.vote("h1", world.work(agent, project, cost=cost[agent]), project, *scores)
    return world


def upbench(store: Store) -> PeopleWorld:
    """One agent, five jobs: passed at once; rescued; failed twice; failed, not tried again; could not be judged."""
    world = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker", model="m/1")], [100.0] * 5, attempts=2)
    world.round("r1", Protocol.RUBRIC, overlap=1)
    first = [(True, True, False), (True, False, False), (False, False, False), (False, True, True), (True, None, True)]
    for job, marks in enumerate(first):
        world.rubric("r1", world.work(0, job), job, *marks, minutes=30)
    for job, marks in ((1, (True, True, True)), (2, (False, True, False))):
        world.rubric("r1", world.work(0, job, attempt=2), job, *marks, minutes=30)
    return world
