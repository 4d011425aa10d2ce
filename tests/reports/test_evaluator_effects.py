"""Strict evaluators, and the bias for the first of a pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import QUICK, cell, sections
from reports.people_world import JUDGES, PeopleWorld, rli, upbench
from worksample.records import Agent, PairwiseChoice, Protocol
from worksample.reports.sections import MeasureConfig, measure
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_lenient_evaluator_is_identified(store: Store) -> None:
    """The first lets all fourteen pass, the others the even ones."""
    world = PeopleWorld(store, Protocol.HOLISTIC, [Agent.of("ann", "worker")], [100.0] * 14)
    world.round("h1", Protocol.HOLISTIC)
    for n in range(14):
        world.vote("h1", world.work(0, n), n, 2, *((2, 2) if n % 2 == 0 else (1, 1)))
    table = sections(store)["severity"]
    told = {row.label: row.cells for row in table.rows}
    number = {judge: f"person {n}" for n, judge in enumerate(sorted(JUDGES[:3]), start=1)}
    lenient, strict = told[number[JUDGES[0]]], told[number[JUDGES[1]]]
    assert cell(table, number[JUDGES[0]], "passes more often").value == pytest.approx(0.5)
    assert cell(table, number[JUDGES[1]], "passes more often").value == pytest.approx(-0.25)
    assert lenient[1:] == ("100.0 %", "50.0 %", "14")
    assert strict[1:] == ("50.0 %", "75.0 %", "14")
    assert lenient[0].low > 0 > strict[0].low  # type: ignore[union-attr]
    assert {row.label for row in table.rows} == set(number.values())


def test_first_shown_of_a_pair_has_a_bias(store: Store) -> None:
    """Of three votes on each of four pairs two are for the first and one is a tie; a repeated vote counts once."""
    world = rli(store)
    world.round("w1", Protocol.PAIRWISE)
    for project in range(4):
        ends = f"s-ann-{project}-1", f"s-bob-{project}-1"
        world.pair(
            "w1",
            *(ends if project % 2 else ends[::-1]),
            project,
            PairwiseChoice.FIRST,
            PairwiseChoice.EQUAL,
            PairwiseChoice.FIRST,
        )
    world.pair("w1", "s-ann-1-1", "s-bob-1-1", 1, PairwiseChoice.FIRST)
    table = next(s for s in measure(store, (), MeasureConfig(how=QUICK)) if s.id == "position")
    found = cell(table, "all evaluators", "first preferred: completion")
    assert (found.value, found.counts.valid, found.counts.special["tasks"]) == (1.0, 8, 4)
    assert [row.label for row in table.rows] == ["all evaluators", "person 1", "person 2", "person 3"]
    assert "ties are left out" in table.notes[0]


def test_single_evaluator_has_no_effects(store: Store) -> None:
    upbench(store)
    assert {"severity", "position"}.isdisjoint(sections(store))
