"""Evaluators of a round: each place is asked once until the overlap is full, and a failure is never a score."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forking.child import Child
from grading.helpers_grading import Bench, bench
from worksample.errors import POLICY, Cause, RecordConflict
from worksample.grading import Evaluators, evaluate, evaluators_of, grade_all, open_round, pending_places
from worksample.grading.evaluators import RoundEvaluator
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.pending_evaluations import TRIES, EvaluationPlace
from worksample.grading.scripted_evaluator import ScriptedEvaluator
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Protocol,
    ResolutionRule,
    Round,
    now,
)

PASSED = GradePayload(score=1.0)


def a_round(made: Bench, subjects: tuple[str, ...], overlap: int) -> Round:
    asks = EvaluatorPanel(EvaluatorKind.JUDGE, overlap, ResolutionRule.MEAN)
    return open_round(made.store, subjects=subjects, protocol=Protocol.PROGRAM, author="test", asks=asks)


def by(*judges: RoundEvaluator) -> Evaluators:
    return Evaluators(judges=lambda round: judges)


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path, "right")


async def test_three_evaluators_fill_an_overlap_of_three(made: Bench) -> None:
    ids = tuple(made.submit({"answer.txt": str(n)}).id for n in range(2))
    round = a_round(made, ids, 3)
    judges = [ScriptedEvaluator(name, PASSED) for name in ("ann", "bob", "cid", "dan")]
    await grade_all(made.store, round, here=by(*judges), parallel=4)
    said = made.store.find(Evaluation, round=round.id)
    assert Counter((e.subject, e.evaluator) for e in said) == {
        (id, f"{j}@1"): 1 for id in ids for j in ["ann", "bob", "cid"]
    }
    assert {e.name for e in made.store.find(Evaluator)} == {"ann", "bob", "cid"}
    assert {(e.minutes, e.cost) for e in said} == {(1.0, 0.01)}
    await grade_all(made.store, round, here=by(*judges))
    assert len(made.store.find(Evaluation, round=round.id)) == 6


async def test_people_are_never_asked_by_a_process(made: Bench) -> None:
    round = open_round(
        made.store,
        subjects=(made.submit({}).id,),
        author="test",
        asks=EvaluatorPanel(EvaluatorKind.PERSON),
        reason="people",
    )
    assert evaluators_of(round, by(ScriptedEvaluator("ann", PASSED))) == ()
    await grade_all(made.store, round, here=by(ScriptedEvaluator("ann", PASSED)))
    assert made.store.find(Evaluation) == []


async def test_transient_failure_is_asked_again_and_never_scored(made: Bench) -> None:
    subject = made.submit({"answer.txt": "1"})
    round = a_round(made, (subject.id,), 2)
    flaky = ScriptedEvaluator("flaky", PASSED, failures={1: [Cause.GRADER_SANDBOX, Cause.CAPTURE_FAILED]})
    broken = ScriptedEvaluator("broken", PASSED, failures={1: [Cause.GRADER_SANDBOX] * TRIES})
    refuses = ScriptedEvaluator("refuses", PASSED, failures={1: [Cause.GRADER_LACKS]})
    last = ScriptedEvaluator("last", PASSED)
    await grade_all(made.store, round, here=by(flaky, broken, refuses, last))
    said = made.store.find(Evaluation, round=round.id)
    assert Counter((e.evaluator, e.outcome) for e in said) == {
        ("flaky@1", EvaluationOutcome.FAILED): 2,
        ("flaky@1", EvaluationOutcome.GIVEN): 1,
        ("broken@1", EvaluationOutcome.FAILED): TRIES,
        ("refuses@1", EvaluationOutcome.FAILED): 1,
        ("last@1", EvaluationOutcome.GIVEN): 1,
    }
    assert all(e.payload is None and e.cause for e in said if e.outcome is EvaluationOutcome.FAILED)


async def test_failed_judge_is_asked_again_in_the_next_run_only(made: Bench) -> None:
    subject = made.submit({"answer.txt": "1"})
    round = a_round(made, (subject.id,), 1)
    down = ScriptedEvaluator(
        "down", PASSED, failures={1: [Cause.JUDGE_ERROR, Cause.JUDGE_MALFORMED, Cause.JUDGE_REFUSED]}
    )
    for run in range(1, 5):
        await grade_all(made.store, round, here=by(down))
        assert len(made.store.find(Evaluation, round=round.id)) == run
    assert [e.outcome for e in made.store.find(Evaluation, round=round.id)].count(EvaluationOutcome.GIVEN) == 1


async def test_two_evaluators_with_one_id_are_refused(made: Bench) -> None:
    subject = made.submit({})
    round = a_round(made, (subject.id,), 2)
    await evaluate(made.store, round, subject, made.instance, EvaluationPlace(ScriptedEvaluator("ann", PASSED), 1))
    other = ScriptedEvaluator("ann", PASSED)
    other.evaluator = other.evaluator.replaced(version="2")
    with pytest.raises(RecordConflict, match="another evaluator already has this id"):
        await evaluate(made.store, round, subject, made.instance, EvaluationPlace(other, 2))


WORKER = """
import asyncio, sys
from worksample.grading import Evaluators, grade_all
from worksample.grading.scripted_evaluator import ScriptedEvaluator
from worksample.records import GradePayload, Round
from worksample.store import Store

store = Store.open(sys.argv[1])
judges = [ScriptedEvaluator(name, GradePayload(score=1.0)) for name in ("ann", "bob", "cid")]
asyncio.run(grade_all(store, store.get(Round, sys.argv[2]), here=Evaluators(judges=lambda r: judges), parallel=3))
"""


def test_two_processes_fill_one_round_without_duplicates(made: Bench) -> None:
    ids = tuple(made.submit({"answer.txt": str(n)}).id for n in range(6))
    round = a_round(made, ids, 2)
    running = [Child("forking.code", [WORKER, made.folder / "store", round.id]) for _ in range(2)]
    assert [process.wait(300) for process in running] == [0, 0]
    said = made.store.find(Evaluation, round=round.id)
    assert Counter((e.subject, e.evaluator) for e in said) == {(id, j): 1 for id in ids for j in ("ann@1", "bob@1")}


FAILURES = st.lists(st.sampled_from([Cause.JUDGE_ERROR, Cause.GRADER_LACKS]), max_size=TRIES)
PANEL = st.lists(st.tuples(st.integers(1, 3), st.dictionaries(st.integers(1, 3), FAILURES)), max_size=4)


@given(st.integers(1, 6), PANEL, st.randoms(use_true_random=False))
def test_round_ends_exactly_at_its_overlap(overlap, panel, random) -> None:
    """Several processes at once, in any order of beginnings and ends; nothing of it needs a store."""
    judges = [ScriptedEvaluator(f"j{n}", PASSED, repeats=r, failures=f) for n, (r, f) in enumerate(panel)]
    round = Round(
        id="r",
        protocol=Protocol.RUBRIC,
        by=EvaluatorKind.JUDGE,
        overlap=overlap,
        author="test",
        at=now(),
        subjects=("s",),
    )
    said: list[Evaluation] = []
    under_way: dict[tuple[str, int], EvaluationPlace] = {}
    tried: Counter[tuple[str, int]] = Counter()
    while True:
        free = [p for p in pending_places(round, judges, said) if p.key not in under_way]
        if not free and not under_way:
            break
        if free and (not under_way or random.random() < 0.5):
            place = random.choice(free)
            under_way[place.key] = place
            continue
        key = random.choice(sorted(under_way))
        place = under_way.pop(key)
        failing = panel[judges.index(place.by)][1].get(place.n, [])
        cause = failing[tried[key]] if tried[key] < len(failing) else None
        tried[key] += 1
        said.append(an_evaluation(len(said), place, cause))
        assert sum(e.outcome is EvaluationOutcome.GIVEN for e in said) <= overlap
    can = sum(gives(panel[j][1].get(n, [])) for j in range(len(panel)) for n in range(1, panel[j][0] + 1))
    assert sum(e.outcome is EvaluationOutcome.GIVEN for e in said) == min(overlap, can)
    assert all(times <= TRIES for times in tried.values())


def gives(failing: list[Cause]) -> bool:
    return len(failing) < TRIES and all(POLICY[cause].retry for cause in failing)


def an_evaluation(number: int, place: EvaluationPlace, cause: Cause | None) -> Evaluation:
    return Evaluation(
        id=str(number),
        round="r",
        subject="s",
        instance="i",
        evaluator=place.by.evaluator.id,
        outcome=EvaluationOutcome.GIVEN if cause is None else EvaluationOutcome.FAILED,
        payload=PASSED if cause is None else None,
        cause=cause,
        record={"n": place.n},
        author="test",
        at=now(),
    )


async def test_repeats_of_one_evaluator_are_numbered(made: Bench) -> None:
    subject = made.submit({})
    round = a_round(made, (subject.id,), 3)
    judge = ScriptedEvaluator("ann", PASSED, repeats=3)
    await asyncio.gather(*(grade_all(made.store, round, here=by(judge), parallel=3) for _ in range(2)))
    said = made.store.find(Evaluation, round=round.id)
    assert sorted(e.record.get("n", 1) for e in said) == [1, 2, 3]
    assert set(judge.asked.values()) == {1}
