"""Opened rounds: their subjects, gradings and evaluators."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.helpers_grading import Bench, bench
from worksample.errors import PlanError, UsageError
from worksample.grading import grade_all, open_round, regrade
from worksample.grading.grade_round import items, subjects
from worksample.grading.grading_rounds import EvaluatorPanel, instances_of
from worksample.records import EvaluatorKind, Protocol, Purpose, ResolutionRule, Round
from worksample.results.pair_sampling import PAIRS, drawn_pairs


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path, "right")


def test_round_records_its_subjects_and_evaluators(made: Bench) -> None:
    one, two = made.submit({"answer.txt": "1"}), made.submit({"answer.txt": "2"})
    round = open_round(made.store, subjects=(two.id, one.id, two.id), author="me", reason="why")
    assert made.store.get(Round, round.id) == round
    assert round.subjects == (two.id, one.id)
    assert (round.protocol, round.by) == (Protocol.PROGRAM, EvaluatorKind.PROGRAM)
    assert (round.overlap, round.rule, round.purpose, round.over) == (1, ResolutionRule.LATEST, Purpose.GRADING, None)
    assert (round.author, round.reason, round.experiment) == ("me", "why", None)
    assert round.gradings == {made.instance.id: made.instance.grading_digest(Protocol.PROGRAM)}
    assert [s.id for s in subjects(made.store, round)] == [two.id, one.id]
    assert [(s.id, other) for s, other in items(made.store, round)] == [(two.id, None), (one.id, None)]
    asks = EvaluatorPanel(EvaluatorKind.PERSON, 3, ResolutionRule.MAJORITY)
    over = open_round(made.store, subjects=(one.id,), author="me", over=round.id, asks=asks)
    assert (over.purpose, over.over) == (Purpose.REGRADE, round.id)
    assert (over.by, over.overlap, over.rule) == (EvaluatorKind.PERSON, 3, ResolutionRule.MAJORITY)
    assert [i.id for i in instances_of(made.store, None, [one.id, two.id])] == [made.instance.id]


def test_pairs_stay_as_drawn_and_only_they_are_asked(made: Bench) -> None:
    one, two, three = (made.submit({"answer.txt": str(n)}) for n in range(3))
    drawn = [(one.id, two.id), (two.id, three.id)]
    round = open_round(made.store, subjects=(one.id, two.id), author="me", pairs=drawn)
    assert PAIRS in round.versions
    assert [tuple(pair) for pair in drawn_pairs(made.store, round)] == drawn
    assert [(a.id, b.id if b else None) for a, b in items(made.store, round)] == [(one.id, two.id)]


def test_invalid_rounds_are_refused(made: Bench) -> None:
    one = made.submit({"answer.txt": "1"})
    for wrong in ({}, {"experiment": "x", "subjects": (one.id,)}):
        with pytest.raises(UsageError, match="either an experiment or subjects"):
            open_round(made.store, author="me", **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not graded under holistic\n  next: one of program"):
        open_round(made.store, subjects=(one.id,), protocol=Protocol.HOLISTIC, author="me")
    with pytest.raises(UsageError, match="none of the selected instances is graded under program"):
        open_round(made.store, subjects=(one.id,), author="me", gradings={})


async def test_regrade_takes_newer_gradings_only(made: Bench) -> None:
    one = made.submit({"answer.txt": "1"})
    newer = made.newer(**{"grade.py": (made.package / "grade.py").read_text() + "\n# looked at again\n"})
    round = regrade(made.store, [newer], subjects=(one.id,), author="me", reason="why", over="r0")
    assert round.gradings == {made.instance.id: newer.grading_digest(Protocol.PROGRAM)}
    assert round.gradings != {made.instance.id: made.instance.grading_digest(Protocol.PROGRAM)}
    assert (round.purpose, round.over, round.reason) == (Purpose.REGRADE, "r0", "why")
    captured = newer.replaced(capture=newer.capture.replaced(root=True))
    with pytest.raises(PlanError, match="list of files to capture changed"):
        regrade(made.store, [captured], subjects=(one.id,), author="me", reason="")
    with pytest.raises(PlanError, match="nothing to grade again"):
        regrade(made.store, [], subjects=(one.id,), author="me", reason="")


async def test_round_without_evaluators_asks_nothing(made: Bench) -> None:
    one = made.submit({"answer.txt": "1"})
    for by in (EvaluatorKind.PERSON, EvaluatorKind.JUDGE):
        round = open_round(made.store, subjects=(one.id,), author="me", asks=EvaluatorPanel(by))
        await grade_all(made.store, round, parallel=0)
