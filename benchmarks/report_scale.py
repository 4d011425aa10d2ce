"""The report over 100,000 trials: its time beside the floor of reading the same rows once, and its index's size.

python benchmarks/report_scale.py [TRIALS]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from worksample.errors import Cause
from worksample.records import (
    About,
    Agent,
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
    Instance,
    Lock,
    Manifest,
    Origin,
    Protocol,
    Record,
    Round,
    Slot,
    Source,
    Submission,
    SubmissionPart,
    TaskWork,
    Trial,
    TrialOutcome,
    Usage,
    Value,
    canonical,
)
from worksample.reports import ReportConfig, write_report
from worksample.results.slot_results import slots_df
from worksample.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 5_000
TASKS, INSTANCES, AGENTS = 100, 5, 10


def instances(empty: str) -> list[Instance]:
    """TASKS x INSTANCES of them, with prices that were paid."""
    found = []
    for task in range(TASKS):
        for name in range(INSTANCES):
            grading = Grading(protocol=Protocol.PROGRAM, reference=empty, grader=empty)
            price = Value(low=50 + task, high=50 + task, date=date(2026, 1, 1), source=Source.PAID)
            found.append(
                Instance(
                    id=f"task-{task}/case-{name}@0",
                    task=f"task-{task}",
                    name=f"case-{name}",
                    title=f"Task {task}",
                    version="1",
                    canary="c",
                    work=TaskWork(brief="Do it.", inputs=empty, software=empty),
                    capture=Capture(probes=empty),
                    grading={Protocol.PROGRAM: grading},
                    about=About(category=f"upwork:category-{task % 12}", value=price),
                )
            )
    return found


def history(trials: int, empty: str) -> Iterator[Record]:
    """A plan and what became of it: 5 % lost to infrastructure, 3 % ungraded, the rest with a score."""
    draw = random.Random(7)
    cases = instances(empty)
    agents = [Agent.of(f"agent-{n}", "worker", model=f"m/{n}") for n in range(AGENTS)]
    repeats = max(1, trials // (len(cases) * len(agents)))
    lock = Lock(suite="s", instances=tuple(c.id for c in cases), protocols=(Protocol.PROGRAM,), sandbox="bubblewrap")
    common: dict[str, Any] = {"author": "benchmark", "at": START}
    yield from [*cases, *agents]
    yield Experiment(
        id="x", name="x", agents=tuple(a.id for a in agents), arms=(Arm(),), repeats=repeats, lock=lock, **common
    )
    yield Round(id="r", protocol=Protocol.PROGRAM, experiment="x", **common)
    yield Evaluator(id="p", name="grade.py", type=EvaluatorKind.PROGRAM, at=START)
    number = 0
    for strength, agent in enumerate(agents):
        for case in cases:
            for repeat in range(1, repeats + 1):
                number += 1
                slot = Slot(id=f"slot-{number}", experiment="x", agent=agent.id, instance=case.id, repeat=repeat)
                yield slot
                yield from _trial(slot, number, strength, draw, empty)


def _trial(slot: Slot, number: int, strength: int, draw: random.Random, empty: str) -> Iterator[Record]:
    lost = draw.random() < 0.05
    outcome = TrialOutcome(ending=Ending.FAILED, cause=Cause.SANDBOX_LOST) if lost else TrialOutcome(ending=Ending.DONE)
    begun = START + timedelta(seconds=number)
    yield Trial(
        id=f"t-{number}",
        slot=slot.id,
        experiment="x",
        agent=slot.agent,
        instance=slot.instance,
        work="0" * 64,
        capture="0" * 64,
        try_number=1,
        outcome=outcome,
        started=begun,
        ended=begun + timedelta(seconds=draw.uniform(10, 500)),
        working_seconds=10,
        steps=draw.randrange(5, 80),
        usage={"agent": Usage(calls=9, input_tokens=9000, output_tokens=900, cost=draw.uniform(0, 2), priced=True)},
    )
    if lost:
        return
    yield Submission(
        id=f"s-{number}",
        instance=slot.instance,
        work="0" * 64,
        capture="0" * 64,
        origin=Origin.TRIAL,
        entrant=slot.agent,
        at=begun,
        trial=f"t-{number}",
        experiment="x",
        parts={"output": SubmissionPart(manifest=empty)},
    )
    if draw.random() < 0.03:
        return
    score = 1.0 if draw.random() < 0.05 * (strength + 1) else draw.random() * 0.99
    yield Evaluation(
        id=f"e-{number}",
        round="r",
        subject=f"s-{number}",
        instance=slot.instance,
        evaluator="p",
        outcome=EvaluationOutcome.GIVEN,
        payload=GradePayload(score=score),
        author="benchmark",
        at=begun,
    )


def timed(what: str, call: object) -> float:
    """Seconds of one call, printed."""
    begun = time.perf_counter()
    call()  # type: ignore[operator]
    seconds = time.perf_counter() - begun
    print(f"{what:<44} {seconds:8.2f} s")
    return seconds


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "store", create=True)
        empty = store.blobs.put(canonical(Manifest().plain()))
        batch: list[Record] = []
        for record in history(trials, empty):
            batch.append(record)
            if len(batch) == BATCH:
                store.commit(*batch)
                batch = []
        store.commit(*batch)
        floor = timed(f"floor: the frame of {trials:,} slots", lambda: slots_df(store, "x"))
        site = Path(folder) / "site"
        aggregate = timed(
            "report without trial pages", lambda: write_report(store, ["x"], site, ReportConfig(pages=False))
        )
        index = (site / "index.html").stat().st_size
        print(f"{'report / floor':<44} {aggregate / floor:8.2f} x")
        print(f"{'index.html':<44} {index / 1e6:8.3f} MB of at most 5")


if __name__ == "__main__":
    main()
