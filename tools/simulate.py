"""A store of simulated records of the Remote Labor Index' size: `python tools/simulate.py STORE`.

Nobody did this work and nobody judged it: agents, projects, prices and votes are drawn from a random generator, named
"simulated", and all prices and hours are marked illustrative. It is for looking at reports and for measuring them:
`worksample report --store STORE --illustrative --no-pages --out FOLDER`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from worksample.errors import Cause
from worksample.records import (
    About,
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Arm,
    Capture,
    Deliverable,
    Ending,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    Grading,
    Holistic,
    Hours,
    Instance,
    Lock,
    Origin,
    Pairwise,
    PairwiseChoice,
    Protocol,
    Record,
    ResolutionRule,
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
from worksample.tasks.taxonomy import categories

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = date(2026, 1, 1)
NOTHING = canonical({"entries": []})
EMPTY = digest_bytes(NOTHING)
BATCH = 4_000
"""Records of one commit."""
EXPERIMENT = "simulated"
FORMATS = ("pdf", "mp4", "png", "xlsx", "dwg", "wav", "html", "svg", "docx", "zip")


@dataclass(frozen=True)
class Size:
    """How much is simulated. `share`: of the projects, how many each pair of agents is compared on."""

    projects: int = 240
    agents: int = 7
    votes: int = 3
    share: float = 0.2
    seed: int = 0


@dataclass
class World:
    """What is drawn: skills, difficulties, and the records that follow from them."""

    size: Size
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.size.seed)
        skill = np.sort(self.random.normal(-3.2, 0.9, self.size.agents))
        self.skill = skill - skill.max() - 1.9
        self.hardness = self.random.normal(0, 1.1, self.size.projects)
        self.agents = [self._agent(i) for i in range(self.size.agents)]
        self.instances = [self._instance(i) for i in range(self.size.projects)]
        self.raters = [
            Evaluator(id=f"simulated-rater-{i}", name=f"simulated rater {i}", type=EvaluatorKind.PERSON, at=START)
            for i in range(9)
        ]
        self.experiment = Experiment(
            id=f"{EXPERIMENT}@{self.size.seed:016x}",
            name=EXPERIMENT,
            agents=tuple(a.id for a in self.agents),
            arms=(Arm(),),
            repeats=1,
            seed=self.size.seed,
            lock=Lock(
                suite="simulated",
                instances=tuple(i.id for i in self.instances),
                protocols=(Protocol.HOLISTIC,),
                sandbox="bubblewrap",
            ),
            author="tools/simulate.py",
            at=START,
        )
        self.rounds = {
            p: Round(
                id=f"simulated-{p.value}",
                protocol=p,
                experiment=self.experiment.id,
                overlap=self.size.votes,
                rule=ResolutionRule.MAJORITY,
                author="tools/simulate.py",
                at=START,
            )
            for p in (Protocol.HOLISTIC, Protocol.PAIRWISE)
        }

    def _agent(self, place: int) -> Agent:
        released = DAY + timedelta(days=60 * place)
        model = f"simulated/model-{place + 1}"
        return Agent.of(f"simulated-{place + 1}", "worker", model=model, release_date=released)

    def _instance(self, place: int) -> Instance:
        kinds = [c for c in categories("upwork") if c.parent]
        category = kinds[int(self.random.zipf(1.4)) * 7 % len(kinds)]
        both = self.random.multivariate_normal([2.4, 5.3], [[1.4, 1.05], [1.05, 1.3]])
        hours, dollars = (float(round(max(0.5, v), 1)) for v in np.exp(both))
        fixed: dict[str, Any] = {"date": DAY, "source": Source.ILLUSTRATIVE}
        form = FORMATS[int(self.random.integers(len(FORMATS)))]
        work = TaskWork(
            brief=f"Simulated project {place}: there is no such work.",
            inputs=EMPTY,
            software=EMPTY,
            deliverables=(Deliverable(name=f"work.{form}", format=form),),
        )
        grading = Grading(protocol=Protocol.HOLISTIC, reference=EMPTY, grader=EMPTY)
        known = self.random.random(2) < (0.95, 0.84)
        about = About(
            category=category.id,
            value=Value(low=dollars, high=dollars, **fixed) if known[0] else None,
            hours=Hours(low=hours, high=hours, **fixed) if known[1] else None,
            provenance="simulated",
        )
        parts = {"simulated": place, "seed": self.size.seed, "size": self.size.projects}
        return Instance(
            id=Instance.identify(f"simulated-{place:03}", "project", parts),
            task=f"simulated-{place:03}",
            name="project",
            title=f"Simulated project {place}",
            version="1",
            canary="simulated",
            work=work,
            capture=Capture(probes=EMPTY),
            grading={Protocol.HOLISTIC: grading},
            about=about,
        )

    def records(self) -> Iterator[Record]:
        """Everything, in an order in which nothing refers to what comes later."""
        yield from self.agents
        yield from self.instances
        for i in self.instances:
            yield Task(
                id=f"{i.task}@1", name=i.task, title=i.title, version="1", canary="simulated", package=EMPTY,
                instances=(i.id,), ingested=START,
            )  # fmt: skip
        yield self.experiment
        yield from self.rounds.values()
        yield from self.raters
        submitted: dict[tuple[int, int], Submission] = {}
        for a in range(self.size.agents):
            for p in range(self.size.projects):
                slot, trial, submission = self._trial(a, p)
                yield from (slot, trial)
                if submission is not None:
                    submitted[a, p] = submission
                    yield submission
        yield from self._holistic(submitted)
        yield from self._pairs(submitted)
        yield from self._struck(submitted)

    def _trial(self, a: int, p: int) -> tuple[Slot, Trial, Submission | None]:
        agent, instance, x = self.agents[a], self.instances[p], self.experiment.id
        slot = Slot(id=Slot.identify(x, agent.id, instance.id, "plain", 1, 1), experiment=x, agent=agent.id,
                    instance=instance.id)  # fmt: skip
        outcome, ending = TrialOutcome(ending=Ending.DONE), self.random.random()
        if ending < 0.01:
            outcome = TrialOutcome(ending=Ending.FAILED, cause=Cause.SANDBOX_LOST, reason="simulated")
        elif ending < 0.05:
            outcome = TrialOutcome(ending=Ending.LIMIT, cause=Cause.LIMIT_TIME, reason="simulated")
        tokens = int(np.exp(self.random.normal(11.5 + 0.25 * a, 0.7)))
        seconds = float(np.exp(self.random.normal(6.2 + 0.2 * a, 0.8)))
        usage = Usage(
            calls=20, input_tokens=tokens, output_tokens=tokens // 12, cost=round(tokens * 6e-6, 4), priced=True
        )
        trial = Trial(
            id=f"{slot.id}-t", slot=slot.id, experiment=x, agent=agent.id, instance=instance.id, work=EMPTY,
            capture=EMPTY, try_number=1, outcome=outcome, started=START, ended=START + timedelta(seconds=seconds),
            working_seconds=seconds, steps=int(self.random.integers(5, 60)), usage={"agent": usage},
        )  # fmt: skip
        if not outcome.finished:
            return slot, trial, None
        submission = Submission(
            id=f"{slot.id}-s", instance=instance.id, work=EMPTY, capture=EMPTY, origin=Origin.TRIAL, entrant=agent.id,
            at=trial.ended, trial=trial.id, experiment=x, parts={"output": SubmissionPart(manifest=EMPTY)},
        )  # fmt: skip
        return slot, trial, submission

    def _said(self, protocol: Protocol, subject: Submission, place: int, **told: Any) -> Evaluation:
        rater = self.raters[(int(subject.id[:6], 16) + place) % len(self.raters)]
        second = told.get("second") or ""
        return Evaluation(
            id=f"{protocol.value}-{subject.id}-{second}-{place}", round=self.rounds[protocol].id, subject=subject.id,
            instance=subject.instance, evaluator=rater.id, author=rater.name, at=START + timedelta(days=1),
            minutes=round(float(self.random.gamma(3, 4)), 1), **told,
        )  # fmt: skip

    def _holistic(self, submitted: dict[tuple[int, int], Submission]) -> Iterator[Evaluation]:
        for (a, p), submission in submitted.items():
            quality = self.skill[a] - self.hardness[p] + self.random.normal(0, 0.6)
            for place in range(self.size.votes):
                felt = quality + self.random.logistic(0, 0.4)
                if self.random.random() < 0.01:
                    yield self._said(
                        Protocol.HOLISTIC, submission, place, outcome=EvaluationOutcome.DECLINED, reason="simulated"
                    )
                    continue
                payload = Holistic(score=3 if felt > 1.6 else 2 if felt > 0 else 1)
                yield self._said(Protocol.HOLISTIC, submission, place, outcome=EvaluationOutcome.GIVEN, payload=payload)

    def _pairs(self, submitted: dict[tuple[int, int], Submission]) -> Iterator[Evaluation]:
        for a, b in combinations(range(self.size.agents), 2):
            chosen = self.random.random(self.size.projects) < self.size.share
            for p in np.flatnonzero(chosen):
                one, two = submitted.get((a, int(p))), submitted.get((b, int(p)))
                if one is None or two is None:
                    continue
                for place in range(self.size.votes):
                    sides = [self._side(self.skill[a] - self.skill[b]) for _ in range(2)]
                    payload = Pairwise(completion=sides[0], quality=sides[1])
                    yield self._said(
                        Protocol.PAIRWISE, one, place, second=two.id, outcome=EvaluationOutcome.GIVEN, payload=payload
                    )

    def _side(self, ahead: float) -> PairwiseChoice:
        felt = ahead + self.random.logistic(0, 0.8)
        return PairwiseChoice.EQUAL if abs(felt) < 0.35 else PairwiseChoice.FIRST if felt > 0 else PairwiseChoice.SECOND

    def _struck(self, submitted: dict[tuple[int, int], Submission]) -> Iterator[Amendment]:
        """Three trials that a review found to have looked where they should not."""
        best = [s for (a, _), s in submitted.items() if a == self.size.agents - 1][:3]
        for submission in best:
            yield Amendment(
                id=f"strike-{submission.id}",
                action=AmendmentAction.STRIKE,
                target=AmendmentTarget.SUBMISSION,
                target_id=submission.id,
                reason="simulated integrity review",
                author="tools/simulate.py",
                at=START + timedelta(days=2),
            )


def simulate(where: Path, size: Size) -> int:
    """Write the simulated store; returns how many records it holds."""
    count, batch = 0, []
    with Store.open(where, create=True) as store:
        store.blobs.put(NOTHING)
        for record in World(size).records():
            batch.append(record)
            count += 1
            if len(batch) == BATCH:
                store.commit(*batch)
                batch = []
        store.commit(*batch)
    return count


def main() -> None:
    """Read the arguments and write the store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    for name, default in (("projects", 240), ("agents", 7), ("votes", 3), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--share", type=float, default=0.2, help="of the projects, for each pair of agents")
    given = vars(parser.parse_args())
    where = given.pop("store")
    if where.exists():
        raise SystemExit(f"{where} is there already\n  next: name a folder that is not")
    sys.stdout.write(f"{simulate(where, Size(**given)):,} simulated records in {where}\n")


if __name__ == "__main__":
    main()
