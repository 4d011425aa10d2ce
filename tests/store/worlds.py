"""Small worlds of records that fit together, and random histories of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from worksample.errors import Cause
from worksample.records import (
    About,
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Arm,
    Capture,
    Ending,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    GradePayload,
    Grading,
    Hours,
    Instance,
    Lock,
    Origin,
    Pairwise,
    PairwiseChoice,
    Protocol,
    Record,
    Round,
    Slot,
    Source,
    Submission,
    SubmissionPart,
    Task,
    TaskWork,
    Trial,
    TrialOutcome,
    Usage,
    Value,
    canonical,
    digest_bytes,
)
from worksample.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
NOTHING = canonical({"entries": []})
EMPTY = digest_bytes(NOTHING)


def at(minute: float) -> datetime:
    return START + timedelta(minutes=minute)


def instance_of(name: str, task: str = "report") -> Instance:
    work = TaskWork(brief=f"Do {name}", inputs=EMPTY, software=EMPTY)
    grading = Grading(protocol=Protocol.PROGRAM, reference=EMPTY, grader=EMPTY)
    about = About(
        category="upwork:writing/reports",
        tier="easy",
        value=Value(low=80, high=120, date=date(2026, 1, 1), source=Source.ILLUSTRATIVE),
        hours=Hours(low=1, high=2, date=date(2026, 1, 1), source=Source.ESTIMATED),
    )
    return Instance(
        id=f"{task}/{name}@{name * 4}",
        task=task,
        name=name,
        title=name,
        version="1",
        canary="c",
        work=work,
        capture=Capture(probes=EMPTY),
        grading={Protocol.PROGRAM: grading},
        about=about,
    )


@dataclass
class World:
    """Two agents, two instances, two repeats: eight slots, and a program round over them."""

    agents: list[Agent] = field(
        default_factory=lambda: [Agent.of("ann", "scripted", model="m/1"), Agent.of("bob", "worker")]
    )
    instances: list[Instance] = field(default_factory=lambda: [instance_of("may"), instance_of("june")])
    repeats: int = 2

    def __post_init__(self) -> None:
        ids = tuple(i.id for i in self.instances)
        self.task = Task(
            id="report@1",
            name="report",
            title="R",
            version="1",
            canary="c",
            package=EMPTY,
            instances=ids,
            ingested=START,
        )
        self.experiment = Experiment(
            id="x1",
            name="x",
            agents=tuple(a.id for a in self.agents),
            arms=(Arm(),),
            repeats=self.repeats,
            lock=Lock(suite="s", instances=ids, protocol=Protocol.PROGRAM, sandbox="bubblewrap"),
            author="me",
            at=START,
        )
        self.slots = [
            Slot(
                id=Slot.identify("x1", a.id, i, "plain", 1, r),
                experiment="x1",
                agent=a.id,
                instance=i,
                repeat=r,
            )
            for a in self.agents
            for i in ids
            for r in range(1, self.repeats + 1)
        ]
        self.round = Round(id="r1", protocol=Protocol.PROGRAM, experiment="x1", author="me", at=START)
        self.evaluator = Evaluator(id="prog", name="grade.py", type=EvaluatorKind.PROGRAM, at=START)

    @property
    def plan(self) -> list[Record]:
        return [*self.agents, *self.instances, self.task, self.experiment, *self.slots, self.round, self.evaluator]

    def trial(self, slot: int, id: str, ended: float = 1, cause: Cause | None = None, **rest: Any) -> Trial:
        place = self.slots[slot]
        ending = Ending.DONE if cause is None else Ending.LIMIT if cause.startswith("limit") else Ending.FAILED
        fixed: dict[str, Any] = {
            "usage": {"agent": Usage(calls=1, input_tokens=100, output_tokens=20, cost=0.5, priced=True)},
            "working_seconds": 30,
            "steps": 3,
        }
        return Trial(
            id=id,
            slot=place.id,
            experiment="x1",
            agent=place.agent,
            instance=place.instance,
            work="0" * 64,
            capture="0" * 64,
            try_number=1,
            outcome=TrialOutcome(ending=ending, cause=cause, reason="" if cause is None else "so it was"),
            started=at(ended - 1),
            ended=at(ended),
            **(fixed | rest),
        )

    def submission(self, trial: Trial) -> Submission:
        return Submission(
            id=f"s-{trial.id}",
            instance=trial.instance,
            work=trial.work,
            capture=trial.capture,
            origin=Origin.TRIAL,
            entrant=trial.agent,
            at=trial.ended,
            trial=trial.id,
            experiment="x1",
            parts={"output": SubmissionPart(manifest=EMPTY)},
        )

    def evaluation(
        self, submission: str, id: str, score: float | None = 1.0, minute: float = 5, **rest: Any
    ) -> Evaluation:
        told: dict[str, Any] = {
            "outcome": EvaluationOutcome.FAILED,
            "cause": Cause.GRADER_TIME,
            "reason": "ran out of time",
        }
        if score is not None:
            told = {"outcome": EvaluationOutcome.GIVEN, "payload": GradePayload(score=score)}
        fixed = {"round": "r1", "instance": self.instances[0].id, "evaluator": "prog", "author": "me", "at": at(minute)}
        return Evaluation(**{"id": id, "subject": submission, **fixed, **told, **rest})

    def pair(self, first: str, second: str, id: str) -> Evaluation:
        return self.evaluation(
            first,
            id,
            second=second,
            outcome=EvaluationOutcome.GIVEN,
            payload=Pairwise(completion=PairwiseChoice.FIRST, quality=PairwiseChoice.EQUAL),
        )

    def amend(
        self, target: AmendmentTarget, id: str, minute: float, action: AmendmentAction = AmendmentAction.STRIKE
    ) -> Amendment:
        name = f"a{minute}-{id}"
        return Amendment(id=name, action=action, target=target, target_id=id, reason="y", author="me", at=at(minute))


def planted(store: Store, world: World) -> Store:
    """The plan, and the empty folder that everything in a world refers to."""
    store.blobs.put(NOTHING)
    store.commit(*world.plan)
    return store


@st.composite
def histories(draw: st.DrawFn, world: World, largest: int = 10) -> list[list[Record]]:
    """A list of commits: trials (several for a slot, finished and not), grades, pairs, strikes and restorations."""
    trials = [
        world.trial(
            draw(st.integers(0, 2)),
            f"t{n}",
            draw(st.sampled_from([1, 2, 3])),
            draw(st.sampled_from([None, None, Cause.LIMIT_TIME, Cause.SANDBOX_LOST, Cause.CANCELLED])),
        )
        for n in range(draw(st.integers(1, 5)))
    ]
    commits: list[list[Record]] = [[t, world.submission(t)] for t in trials]
    ids = [t.id for t in trials]
    for n in range(draw(st.integers(0, largest))):
        one = draw(st.sampled_from(ids))
        minute = draw(st.integers(10, 14))
        match draw(st.sampled_from(["grade", "pair", "trial", "evaluation", "submission", "evaluator", "instance"])):
            case "grade":
                score = draw(st.sampled_from([None, 0.0, 0.5, 1.0]))
                commits.append([world.evaluation(f"s-{one}", f"e{n}", score, minute)])
            case "pair":
                commits.append([world.pair(f"s-{one}", f"s-{draw(st.sampled_from(ids))}", f"p{n}")])
            case other:
                target = AmendmentTarget(other)
                id = {
                    AmendmentTarget.TRIAL: one,
                    AmendmentTarget.EVALUATION: f"e{draw(st.integers(0, largest))}",
                    AmendmentTarget.SUBMISSION: f"s-{one}",
                    AmendmentTarget.EVALUATOR: "prog",
                    AmendmentTarget.INSTANCE: world.instances[0].id,
                }[target]
                amendment = world.amend(
                    target, id, minute, draw(st.sampled_from([AmendmentAction.STRIKE, AmendmentAction.RESTORE]))
                )
                commits.append([amendment.replaced(id=f"a{n}")])
    return commits
