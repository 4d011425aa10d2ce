"""Impossible input is refused when recorded, or named in a note beside the figures."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from reports.measuring import cell, sections, strike
from reports.people_world import PeopleWorld, rli
from store import worlds
from worksample.records import Agent, AmendmentTarget, Hours, Protocol, Source, Usage, Value
from worksample.records.submission import Reported
from worksample.reports import leaderboard
from worksample.reports.sections import Section
from worksample.results.subset import Subset
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def notes(section: Section) -> str:
    return "; ".join(section.notes)


@pytest.mark.parametrize("wrong", [math.inf, -math.inf, math.nan, -1.0])
def test_impossible_numbers_are_refused_at_the_record(wrong: float) -> None:
    given: dict[str, Any] = {"date": date(2026, 1, 1), "source": Source.PAID}
    for make in (
        lambda: Value(low=1.0, high=wrong, **given),
        lambda: Hours(low=wrong, high=1.0, **given),
        lambda: Usage(calls=1, cost=wrong),
        lambda: Reported(minutes=wrong),
        lambda: Reported(cost=wrong),
    ):
        with pytest.raises(ValidationError):
            make()


def test_negative_minutes_are_refused_at_the_record(store: Store) -> None:
    world = rli(store)
    from worksample.records import Holistic

    with pytest.raises(ValidationError, match="minutes"):
        world.say("h1", "s-ann-0-1", 0, Holistic(score=2), minutes=-5.0)


def test_prices_in_another_currency_are_named_even_alone(store: Store) -> None:
    world = PeopleWorld(store, Protocol.HOLISTIC, [Agent.of("ann", "worker", model="m/1")], [])
    plain = worlds.instance_of("p0", task="job0")
    value = Value(low=90, high=90, currency="EUR", date=date(2026, 1, 1), source=Source.PAID)
    world.instances = [plain.replaced(about=plain.about.replaced(value=value))]
    store.commit(*world.instances)
    world.round("h1", Protocol.HOLISTIC)
    world.vote("h1", world.work(0, 0), 0, 3, 3, 3)
    found = sections(store)["dollars"]
    assert found.rows == () and "1 instances are priced in another currency" in notes(found)


def test_future_and_extreme_prices_are_named(store: Store) -> None:
    world = PeopleWorld(store, Protocol.HOLISTIC, [Agent.of("ann", "worker", model="m/1")], [])
    days, prices = (date(2026, 1, 1), date(2031, 1, 1), date(2026, 1, 1)), (90, 90, 9e11)
    for n, (day, price) in enumerate(zip(days, prices, strict=True)):
        plain = worlds.instance_of(f"p{n}", task=f"job{n}")
        value = Value(low=price, high=price, date=day, source=Source.PAID)
        world.instances.append(plain.replaced(about=plain.about.replaced(value=value)))
    store.commit(*world.instances)
    world.round("h1", Protocol.HOLISTIC)
    for n in range(3):
        world.vote("h1", world.work(0, n), n, 3, 3, 3)
    found = sections(store)["dollars"]
    assert "1 prices are dated after the experiment was planned, which is impossible, such as that of job1" in notes(
        found
    )
    assert "1 trials with a price below $0 or above $100,000,000 are left out" in notes(found)
    assert cell(found, "ann", "earned").value == 180 and not found.fault


def test_agent_from_the_future_is_named(store: Store) -> None:
    agents = [
        Agent.of("ann", "worker", model="m/1", release_date=date(2031, 1, 1)),
        Agent.of("bob", "worker", model="m/2", release_date=date(2025, 1, 1)),
    ]
    world = PeopleWorld(store, Protocol.HOLISTIC, agents, [100.0])
    world.round("h1", Protocol.HOLISTIC)
    for agent in (0, 1):
        world.vote("h1", world.work(agent, 0), 0, 2, 2, 2)
    assert "released after the experiment was planned, which is impossible: ann" in notes(
        sections(store)["autoflation"]
    )


def test_agents_with_one_name_are_distinguished(store: Store) -> None:
    agents = [Agent.of("ann", "worker", model="m/1"), Agent.of("ann", "worker", model="m/2")]
    agents.append(Agent.of("bob", "worker", model="m/1"))
    world = PeopleWorld(store, Protocol.HOLISTIC, agents, [100.0, 200.0])
    world.round("h1", Protocol.HOLISTIC)
    for agent in range(3):
        for project in range(2):
            world.vote("h1", world.work(agent, project), project, *([1 + agent] * 3))
    rows = [row.label for row in sections(store)["automation"].rows]
    assert sorted(rows) == sorted([agents[0].id, agents[1].id, "bob"])
    assert {row.label for row in leaderboard(store).rows} == set(rows)


def test_unknown_category_is_named(store: Store) -> None:
    world = worlds.World()
    worlds.planted(store, world)
    for slot, score in enumerate((1.0, 0.5, 0.0, 0.0)):
        trial = world.trial(slot, f"t{slot}", slot + 1)
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    found = sections(store)["category"]
    assert "in no taxonomy, and therefore a separate group: upwork:writing/reports" in notes(found)


def test_category_with_one_trial_has_a_value_and_a_reason_for_no_interval(store: Store) -> None:
    world = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker", model="m/1")], [100.0])
    world.round("r1", Protocol.RUBRIC, overlap=1)
    world.rubric("r1", world.work(0, 0), 0, True, True, False)
    found = sections(store, by="category")["scores"]
    passed, score = (cell(found, "ann", name) for name in ("full pass", "mean score"))
    assert passed.value == 1 and passed.low is not None and passed.low < 0.1
    assert score.value == pytest.approx(2 / 3) and score.low is None and score.notes


def test_votes_of_a_struck_evaluator_count_in_no_figure(store: Store) -> None:
    rli(store)
    before = sections(store)["automation"]
    strike(store, AmendmentTarget.EVALUATOR, "eva")
    after = sections(store)["automation"]
    assert cell(before, "ann", "automation rate").counts.valid == 4
    rate = cell(after, "ann", "automation rate")
    assert rate.counts.valid < 4 and rate.counts.planned == 4
    assert rate.bounds is not None and rate.bounds[0] < rate.bounds[1]


def test_too_many_agents_to_pair_are_reported(store: Store) -> None:
    agents = [Agent.of(f"a{k:02d}", "worker", model="m/1") for k in range(61)]
    world = PeopleWorld(store, Protocol.HOLISTIC, agents, [100.0])
    world.round("h1", Protocol.HOLISTIC, overlap=1)
    for agent in range(61):
        world.vote("h1", world.work(agent, 0), 0, 3)
    found = sections(store)
    assert found["ranks"].rows == () and "too many for all pairs" in notes(found["ranks"]) and "pairs" not in found
    two = sections(store, where=Subset.parse(["agent=a00", "agent=a01"]))
    assert [row.label for row in two["ranks"].rows] == ["a00", "a01"] and len(two["pairs"].rows) == 1
