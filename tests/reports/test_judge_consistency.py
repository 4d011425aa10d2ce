"""Judges that follow the order of a pair or contradict themselves are visible beside their figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import QUICK, cell
from reports.people_world import PeopleWorld
from store import worlds
from worksample.metrics import Estimate
from worksample.records import (
    Agent,
    Evaluator,
    EvaluatorKind,
    Holistic,
    Pairwise,
    PairwiseChoice,
    Protocol,
)
from worksample.reports import leaderboard
from worksample.reports.sections import MeasureConfig, Section, measure
from worksample.store import Store

JUDGE = "judge.judge@1"
NAME = "judge (m/one)"
TURNED = {"first": "second", "second": "first", "equal": "equal"}
FLIPS, FIRST, REPEATS = "verdict flips with the order", "first shown preferred", "repeats agree"


@pytest.fixture
def world(tmp_path: Path) -> PeopleWorld:
    store = Store.open(tmp_path / "store", create=True)
    agents = [Agent.of("ann", "worker"), Agent.of("bob", "worker")]
    world = PeopleWorld(store, Protocol.PAIRWISE, agents, [100.0] * 12)
    store.commit(Evaluator(id=JUDGE, name=NAME, type=EvaluatorKind.JUDGE, version="1", at=worlds.START))
    return world


def compare(world: PeopleWorld, project: int, shown: str, swapped: str, n: int = 1) -> None:
    """One comparison in both orders, each answer in its own terms; ann's is shown first as drawn."""
    one, two = (world.work(who, project) for who in (0, 1)) if n == 1 else (f"s-ann-{project}-1", f"s-bob-{project}-1")
    orders = [shown, TURNED[swapped]]
    side = PairwiseChoice(shown) if orders[0] == orders[1] else PairwiseChoice.EQUAL
    asked = [{"ask": "pair", "value": side.value, "orders": orders}] * 2
    record = {"asked": asked, **({"n": n} if n > 1 else {})}
    world.say("j1", one, project, Pairwise(completion=side, quality=side), JUDGE, second=two, record=record)


def tables(world: PeopleWorld) -> dict[str, Section]:
    return {s.id: s for s in measure(world.store, (), MeasureConfig(how=QUICK))}


def test_judge_that_always_takes_the_first_is_identified(world: PeopleWorld) -> None:
    world.round("j1", Protocol.PAIRWISE, 1, by=EvaluatorKind.JUDGE)
    for project in range(12):
        compare(world, project, "first", "first")
    found = tables(world)
    label = f"{NAME}, pairs: completion"
    flips, first = (cell(found["judge-consistency"], label, column) for column in (FLIPS, FIRST))
    assert (flips.value, flips.counts.valid) == (1.0, 12)
    assert (first.value, first.counts.valid) == (1.0, 24)
    assert first.low is not None and first.low > 0.7
    assert cell(found["position"], "all evaluators", "first preferred: completion").value == 1.0
    said = (
        f"{NAME}: 24 of 24 verdicts on pairs flip with the order; of 48 answers that prefer one, 48 prefer the first "
        "shown"
    )
    assert said in found["preferences"].notes
    assert said in found["elo"].notes
    assert f"{said}." in leaderboard(world.store).notes


def test_unbiased_judge_is_distinguished_from_it(world: PeopleWorld) -> None:
    world.round("j1", Protocol.PAIRWISE, 1, by=EvaluatorKind.JUDGE)
    for project in range(12):
        compare(world, project, *(("first", "second") if project % 2 else ("second", "first")))
    table = tables(world)["judge-consistency"]
    assert cell(table, f"{NAME}, pairs: quality", FLIPS).value == 0.0
    assert cell(table, f"{NAME}, pairs: quality", FIRST).value == 0.5


def test_missing_data_name_what_to_plan(world: PeopleWorld) -> None:
    world.round("j1", Protocol.PAIRWISE, 1, by=EvaluatorKind.JUDGE)
    for project in range(3):
        compare(world, project, "equal", "equal")
    found = tables(world)
    row = f"{NAME}, pairs: completion"
    assert cell(found["judge-consistency"], row, FIRST).reason == "all 6 answers are ties"
    assert cell(found["position"], "all evaluators", "first preferred: quality").reason == "all 6 answers are ties"
    assert "set repeats = 2" in cell(found["judge-consistency"], row, REPEATS).reason
    cells = [c for name in ("position", "judge-consistency") for r in found[name].rows for c in r.cells]
    assert not any("nothing was planned" in c.reason for c in cells if isinstance(c, Estimate))


def test_repeats_of_a_judge_are_compared(world: PeopleWorld) -> None:
    world.round("j1", Protocol.HOLISTIC, 2, by=EvaluatorKind.JUDGE)
    for project in range(12):
        work = world.work(0, project)
        for n, score in ((1, 2), (2, 2 if project < 9 else 1)):
            world.say("j1", work, project, Holistic.model_validate({"score": score}), JUDGE, record={"n": n})
    found = tables(world)
    repeats = cell(found["judge-consistency"], f"{NAME}, holistic votes", REPEATS)
    assert repeats.value == pytest.approx(0.75)
    assert f"{NAME}, holistic votes: 75.0 % of its repeats agree (12 items)" in found["automation"].notes
    assert cell(found["judge-consistency"], f"{NAME}, holistic votes", FLIPS).reason == "only pairs have an order"
