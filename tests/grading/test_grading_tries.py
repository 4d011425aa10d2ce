"""Tries of a grading: repeated after a sandbox failure, up to the limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.helpers_grading import bench
from worksample.errors import POLICY, Cause
from worksample.grading import grade, is_pending, open_round
from worksample.records import Evaluation, EvaluationOutcome, GradePayload, now


async def test_unavailable_sandbox_is_tried_twice(tmp_path: Path) -> None:
    made = bench(tmp_path, "right")
    submission = made.submit({"answer.txt": "1"})
    round = open_round(made.store, subjects=(submission.id,), author="test")
    for _ in range(2):
        evaluation = await grade(made.store, round, submission, made.instance, sandbox="nowhere")
        assert (evaluation.cause, evaluation.record["tries"]) == (Cause.GRADER_SANDBOX, 2)
    made.store.close()


@pytest.mark.box
async def test_crashing_grader_is_not_tried_again(tmp_path: Path) -> None:
    made = bench(tmp_path, "crash")
    submission = made.submit({"answer.txt": "1"})
    round = open_round(made.store, subjects=(submission.id,), author="test")
    evaluation = await grade(made.store, round, submission, made.instance)
    assert (evaluation.cause, evaluation.record["tries"]) == (Cause.GRADER_CRASH, 1)
    made.store.close()


def made_of(n: int, cause: Cause | None) -> Evaluation:
    return Evaluation(
        id=str(n),
        round="r",
        subject="s",
        instance="i",
        evaluator="program",
        outcome=EvaluationOutcome.GIVEN if cause is None else EvaluationOutcome.FAILED,
        payload=GradePayload(score=1.0) if cause is None else None,
        cause=cause,
        reason="" if cause is None else "so",
        author="test",
        at=now(),
    )


GRADING = [cause for cause in Cause if cause.startswith("grader.")]


@given(st.lists(st.sampled_from([None, *GRADING]), max_size=6), st.integers(1, 4))
def test_subject_needs_a_grade_until_given_or_tries_are_over(causes: list[Cause | None], tries: int) -> None:
    made = [made_of(n, cause) for n, cause in enumerate(causes)]
    retried = all(cause is not None and POLICY[cause].retry for cause in causes)
    assert is_pending(made, tries) == (len(causes) < tries and retried)


def test_place_is_tried_three_times_by_default() -> None:
    failed = [made_of(n, Cause.GRADER_SANDBOX) for n in range(3)]
    assert [is_pending(failed[:n]) for n in range(4)] == [True, True, True, False]
