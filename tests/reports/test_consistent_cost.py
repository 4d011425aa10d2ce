"""A trial's cost is computed once: leaderboard, metrics, advice and exports agree."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from reports.measuring import cell, sections
from reports.people_world import PeopleWorld
from worksample.models.price import Price
from worksample.models.usage import with_zero_cost
from worksample.records import Agent, GradePayload, Protocol, Usage
from worksample.reports import leaderboard
from worksample.results.slot_results import slots_df
from worksample.store import Store

PRICES = {"m/priced": Price(input=1, output=1)}
CALLED = Usage(calls=1, input_tokens=10, output_tokens=1, cost=2.0, priced=True)
UNPRICED = Usage(calls=1, input_tokens=10, output_tokens=1, unpriced=1)
AGENTS: dict[str, tuple[str, str, list[dict[str, Usage]], float | None]] = {
    "priced": ("worker", "m/priced", [{"agent": CALLED}, {}], 1.0),
    "silent": ("worker", "m/priced", [{}, {}], 0.0),
    "unpriced": ("worker", "m/free", [{"agent": UNPRICED}, {}], None),
    "unpriced-silent": ("worker", "m/free", [{}, {}], None),
    "imported": ("imported", "m/free", [{}, {}], None),
    "command": ("command", "m/priced", [{}, {}], 0.0),
}
"""Name -> harness, model, usage of its two trials, and the mean cost that every page must show."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "s", create=True)
    agents = [Agent.of(n, h, model=model, release_date=date(2026, 1, 1)) for n, (h, model, _, _) in AGENTS.items()]
    world = PeopleWorld(store, Protocol.PROGRAM, agents, [100.0, 200.0])
    world.round("r1", Protocol.PROGRAM, 1)
    for n, (_, model, each, _) in enumerate(AGENTS.values()):
        for project, usage in enumerate(each):
            more: dict[str, Any] = {"usage": with_zero_cost(usage, model, PRICES)}
            world.say("r1", world.work(n, project, **more), project, GradePayload(score=1.0))
    return store


def test_leaderboard_metrics_and_exports_show_the_same_cost(store: Store) -> None:
    shown = {row.name: row.cost for row in leaderboard(store).rows}
    scores, exported = sections(store)["scores"], slots_df(store, "x1")
    for name, (_, _, _, cost) in AGENTS.items():
        counted = cell(scores, name, "cost")
        assert (shown[name].value, counted.value) == (cost, cost), name
        assert (shown[name].counts.valid, counted.counts.valid) == ((0, 0) if cost is None else (2, 2)), name
        mine = exported.filter(exported["agent_name"] == name)["cost"].drop_nulls()
        assert mine.mean() == cost, name


def test_trial_of_unknown_cost_stays_out_of_all_money_figures(store: Store) -> None:
    found = sections(store)
    for name, (_, _, _, cost) in AGENTS.items():
        deployed = cell(found["deployable"], name, "deployed, per job")
        assert (deployed.value is None) == (cost is None), name
