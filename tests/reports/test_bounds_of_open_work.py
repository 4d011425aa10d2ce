"""Bounds of completion, dollars and rolled-up scores over all planned work."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import cell, sections
from reports.people_world import PeopleWorld, upbench
from worksample.records import Agent, GradePayload, Protocol, ResolutionRule
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_completion_is_bounded(store: Store) -> None:
    """One of five jobs could not be judged: of four one is completed."""
    upbench(store)
    found = cell(sections(store)["rubric"], "ann", "completion")
    assert (found.value, found.bounds) == (0.25, pytest.approx((0.2, 0.4)))


def test_dollars_are_bounded(store: Store) -> None:
    """Of projects worth 100 and 300 one has passed, the other has too few votes."""
    world = PeopleWorld(store, Protocol.HOLISTIC, [Agent.of("ann", "worker")], [100.0, 300.0])
    world.round("h1", Protocol.HOLISTIC)
    world.vote("h1", world.work(0, 0), 0, 3, 3, 3)
    world.vote("h1", world.work(0, 1), 1, 3)
    table = sections(store)["dollars"]
    earned, share = (cell(table, "ann", name) for name in ("earned", "share"))
    assert (earned.value, earned.bounds) == (100.0, (100.0, 400.0))
    assert (share.value, share.bounds) == (1.0, (0.25, 1.0))


def test_rolled_up_scores_are_bounded(store: Store) -> None:
    world = PeopleWorld(store, Protocol.PROGRAM, [Agent.of("ann", "worker")], [100.0] * 4)
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for n in range(4):
        subject = world.work(0, n)
        if n < 3:
            world.say("p1", subject, n, GradePayload(score=1.0))
    found = cell(sections(store)["roll-up"], "all domains", "ann")
    assert (found.value, found.bounds) == (1.0, pytest.approx((0.75, 1.0)))


def test_passed_is_open_if_the_score_is_not(store: Store) -> None:
    """Two raters whose mean stands are split evenly on whether the second job is completed."""
    world = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker")], [100.0, 100.0])
    world.round("u1", Protocol.RUBRIC, overlap=2, rule=ResolutionRule.MEAN)
    for n, second in enumerate(((True, True, True), (False, True, True))):
        subject = world.work(0, n)
        world.rubric("u1", subject, n, True, True, True, judge="eva")
        world.rubric("u1", subject, n, *second, judge="ivo")
    found = sections(store)
    score, passed = (cell(found["scores"], "ann", name) for name in ("mean score", "full pass"))
    assert (score.counts.valid, score.counts.ungraded) == (2, 0)
    assert (passed.value, passed.counts.valid, passed.counts.ungraded) == (1.0, 1, 1)
    assert passed.bounds == (0.5, 1.0)
    tier = cell(found["tiers"], "ann", "overall: pass")
    assert (tier.value, tier.counts.valid, tier.counts.ungraded) == (1.0, 1, 1)
