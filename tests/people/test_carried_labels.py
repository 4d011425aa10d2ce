"""Labels of an earlier experiment prove the same judge in the next one, and no other judge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from people.test_judge_labels import fill, good, judge, label, office, routed
from people.worlds import Office
from store.worlds import START
from worksample.errors import PlanError
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    Holistic,
    Protocol,
    Record,
    Round,
    Slot,
    Submission,
    Trial,
)
from worksample.reports.sections import measure
from worksample.results.calibration.config import CalibrationConfig, calibration_of
from worksample.results.calibration.prior_labels import earlier_experiments

LATER = START + timedelta(days=1)
CALIBRATED = {
    "calibration": CalibrationConfig(share=1.0, threshold=0.85, protocols=(Protocol.HOLISTIC,)).plain(),
}


def next_experiment(desk: Office, projects: int, **rest: Any) -> Experiment:
    """The same agents on other work, delivered."""
    asked = CalibrationConfig(**{"labels": 2, "protocols": (Protocol.HOLISTIC,), "threshold": 0.85, **rest})
    first = desk.store.get(Experiment, "x1")
    reference = desk.instances[0].grading[Protocol.HOLISTIC].reference
    more = [desk._instance(100 + n, reference or "") for n in range(projects)]
    records: list[Record] = [*more]
    for agent in desk.makers:
        for instance in more:
            for one in desk._work(agent, instance):
                if isinstance(one, Slot):
                    own = Slot.identify("x2", agent.id, instance.id, "plain", 1, 1)
                    one = one.replaced(id=own, experiment="x2")
                elif isinstance(one, Trial):
                    one = one.replaced(experiment="x2", slot=own)
                else:
                    one = one.replaced(experiment="x2")
                records.append(one)
    lock = first.lock.replaced(instances=tuple(i.id for i in more))
    made = first.replaced(id="x2", name="next", lock=lock, at=LATER, settings={"calibration": asked.plain()})
    desk.store.commit(*records, made)
    return made


def judged_anew(desk: Office, passes: Callable[[str], bool], version: str = "1") -> None:
    who = Evaluator(id=f"judge.judge@{version}", name="judge", type=EvaluatorKind.JUDGE, version=version, at=START)
    work = desk.store.find(Submission, experiment="x2")
    grading = desk.instances[0].grading_digest(Protocol.HOLISTIC)
    round = Round(
        id="judged2", protocol=Protocol.HOLISTIC, by=EvaluatorKind.JUDGE, experiment="x2",
        gradings={s.instance: grading for s in work}, author="me", at=LATER,
    )  # fmt: skip
    said = [
        Evaluation(
            id=f"again {s.id}",
            round=round.id,
            subject=s.id,
            evaluator=who.id,
            instance=s.instance,
            grading=grading,
            outcome=EvaluationOutcome.GIVEN,
            payload=Holistic(score=2 if passes(s.id) else 1, justification="so"),
            author="me",
            at=LATER,
        )
        for s in work
    ]
    desk.store.commit(round, who, *said)


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("taken over", ""),
        ("not named", "labels show"),
        ("another version", "labels show"),
        ("wrong on this work", "refused"),
    ],
)
def test_labels_of_an_earlier_experiment_prove_the_same_judge(tmp_path: Path, case: str, why: str) -> None:
    desk = office(tmp_path, agents=1, projects=30, settings=CALIBRATED)
    first = desk.store.get(Experiment, "x1")
    judge(desk, good)
    ann = desk.hire("ann", "expert")
    assert fill(desk, first) == 30 and label(desk, ann) == 30

    second = next_experiment(desk, 6, proofs=() if case == "not named" else ("x",))
    wrong = case == "wrong on this work"
    judged_anew(desk, (lambda s: not good(s)) if wrong else good, "2" if case == "another version" else "1")
    assert fill(desk, second) == 2, "people label a sample of the new work in any case"
    assert label(desk, ann) == 2
    sent = fill(desk, second)
    assert bool(sent) == bool(why) and all(why in reason or "disagreed" in reason for reason in routed(desk).values())
    assert sent == {"": 0, "labels show": 4, "refused": 6}[why]
    found = {s.id: s for s in measure(desk.store, [second])}
    # What is carried proves, and is in no figure.
    assert found["calibrated"].rows[0].cells[1].counts.valid == 2
    told = " ".join(found["calibration-work"].notes)
    assert ("labels of x count towards the proof" in told) == (case != "not named")


@pytest.mark.parametrize(
    ("name", "says"),
    [("nobody", "unknown earlier experiment"), ("x2", "unknown earlier experiment"), ("plain", "calibrated no")],
)
def test_experiment_that_proves_nothing_is_refused(tmp_path: Path, name: str, says: str) -> None:
    desk = office(tmp_path, agents=1, projects=2)
    desk.store.commit(desk.store.get(Experiment, "x1").replaced(id="x0", name="plain"))
    second = next_experiment(desk, 2, proofs=(name,))
    config = calibration_of(second)
    assert config is not None
    with pytest.raises(PlanError, match=says):
        earlier_experiments(desk.store, second, config)
