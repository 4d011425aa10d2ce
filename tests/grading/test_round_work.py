"""Evaluations that a round still needs, and the number of workplaces to start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from grading.helpers_grading import Bench, bench
from worksample.grading import RoundWork, asks_services, open_round
from worksample.grading.grade_round import starts_of
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.program_evaluator import ProgramEvaluator
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    EvaluatorKind,
    GradePayload,
    Instance,
    Protocol,
    Round,
    Submission,
    now,
)


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path, "right")


def a_round(made: Bench, *subjects: Submission, by: EvaluatorKind = EvaluatorKind.PROGRAM) -> Round:
    return open_round(made.store, subjects=tuple(s.id for s in subjects), author="test", asks=EvaluatorPanel(by))


def graded(made: Bench, round: Round, subject: Submission, second: Submission | None = None) -> None:
    """A grade that is there already."""
    made.store.commit(
        Evaluation(
            id=f"of {subject.id}",
            round=round.id,
            subject=subject.id,
            second=second.id if second else None,
            instance=made.instance.id,
            evaluator=ProgramEvaluator().evaluator.id,
            outcome=EvaluationOutcome.GIVEN,
            payload=GradePayload(score=1.0),
            author="test",
            at=now(),
        )
    )


def test_unknown_evaluations_are_read_from_the_store(made: Bench) -> None:
    one, two = made.submit({"answer.txt": "1"}), made.submit({"answer.txt": "2"})
    round = a_round(made, one, two)
    work = RoundWork(made.store, round, (ProgramEvaluator(),))
    graded(made, round, one)
    assert work.tasks_of(one) == []
    assert [task.submission for task in work.tasks_of(two)] == [two]
    assert [task.submission for task in work.tasks_of(one, made=())] == [one]
    assert [task.submission for task in work.tasks()] == [two]


def test_evaluation_of_a_pair_counts_for_that_pair_only(made: Bench) -> None:
    one, two, three = (made.submit({"answer.txt": str(n)}) for n in range(3))
    round = a_round(made, one, two, three)
    work = RoundWork(made.store, round, (ProgramEvaluator(),))
    graded(made, round, one, two)
    assert work.tasks_of(one, two) == []
    assert [task.second for task in work.tasks_of(one, three)] == [three]
    assert [task.second for task in work.tasks_of(one)] == [None]


def over_a_workplace(instance: Instance, settings: Mapping[str, Any]) -> Instance:
    grading = instance.grading[Protocol.PROGRAM]
    return instance.replaced(grading={Protocol.PROGRAM: grading.replaced(settings={**grading.settings, **settings})})


def test_only_graders_that_query_the_workplace_start_it(made: Bench) -> None:
    round = a_round(made, made.submit({"answer.txt": "1"}))
    asking = over_a_workplace(made.instance, {"workplace": True})
    assert asks_services(asking, round)
    assert not asks_services(made.instance, round)
    assert not asks_services(asking, round.replaced(by=EvaluatorKind.PERSON))
    assert not asks_services(asking, round.replaced(protocol=Protocol.HOLISTIC))


@pytest.mark.parametrize(("workplace", "starts"), [(True, 2), (False, 0)])
def test_each_needed_grade_starts_a_workplace(made: Bench, workplace: bool, starts: int) -> None:
    here = made.instance.replaced(id="other")
    made.store.commit(over_a_workplace(here, {"workplace": workplace}))
    subjects = [made.submit({"answer.txt": str(n)}, instance="other") for n in range(3)]
    round = a_round(made, *subjects, made.submit({"answer.txt": "3"}))
    graded(made, round, subjects[0])
    work = RoundWork(made.store, round, (ProgramEvaluator(),))
    assert len(work.tasks()) == 3
    assert starts_of(work) == starts
    assert starts_of(RoundWork(made.store, round.replaced(by=EvaluatorKind.PERSON), (ProgramEvaluator(),))) == 0
