"""Every shown figure with an interval has a row in the table of interval coverage."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.coverage.cells import read_rows
from benchmarks.coverage.figures import has_none, row_of

from reports.measuring import QUICK
from reports.people_world import rli, upbench
from results.joined_worlds import JoinedWorld
from results.random_worlds import RandomWorld
from worksample.metrics import Estimate
from worksample.records import Protocol
from worksample.reports import leaderboard
from worksample.reports.sections import MeasureConfig, measure
from worksample.store import Store

ELSEWHERE = ("calibrated", "proof", "favour")
"""Sections whose figures have their rows in docs/data/calibration-summary.csv."""
COVERED = {row for row, *_ in read_rows(Path(__file__).parents[2] / "docs/data/coverage.csv")}


def shown(store: Store, by: str = "") -> Iterator[tuple[str, Estimate]]:
    """(`section: column`, figure) of all that metrics and leaderboard show."""
    for section in measure(store, (), MeasureConfig(how=QUICK, by=by)):
        if section.id in ELSEWHERE:
            continue
        across = section.id in ("roll-up", "criteria", "preferences")
        for row in section.rows:
            for column, cell in zip(section.columns, row.cells, strict=True):
                if isinstance(cell, Estimate):
                    yield f"{section.id}: {row.label if across else column}", cell
    for line in leaderboard(store).rows:
        for name in ("passed", "score", "s_partial", "earned", "cost", "seconds"):
            yield f"leaderboard: {name}", getattr(line, name)


def worlds(folder: Path) -> Iterator[Store]:
    for name, make in (("rli", rli), ("upbench", upbench)):
        store = Store.open(folder / name, create=True)
        make(store)
        yield store
    store = Store.open(folder / "kinds", create=True)
    JoinedWorld(store, Protocol.CHECKPOINTS, random.Random(0))
    yield store
    for protocol in (Protocol.PROGRAM, Protocol.HOLISTIC):
        store = Store.open(folder / protocol.value, create=True)
        RandomWorld(store, random.Random(3), protocol)
        yield store


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Estimate]]:
    return [each for store in worlds(tmp_path_factory.mktemp("stores")) for each in shown(store)]


def test_every_shown_figure_has_a_row(figures: list[tuple[str, Estimate]]) -> None:
    places = {place for place, _ in figures}
    assert any(place.startswith("kinds: ") for place in places)
    assert {place for place in places if row_of(place) is None and not has_none(place)} == set()
    assert {row for place in places if (row := row_of(place)) and row not in COVERED} == set()
    assert len({place.partition(":")[0] for place in places}) >= 20


def test_every_figure_has_an_interval_or_a_reason(figures: list[tuple[str, Estimate]]) -> None:
    """A number without an interval, and without a note or a reason, looks certain; so does an interval of one value."""
    bare = {
        place
        for place, e in figures
        if e.value is not None and e.method != "fixed" and (e.low is None or e.high is None) and not e.notes
    }
    assert bare == set()
    assert {place for place, e in figures if e.low is not None and e.low == e.high and not e.notes} == set()
    assert any(place == "value: break-even with the human" and e.low is not None for place, e in figures)


def test_figures_without_a_row_have_no_interval(figures: list[tuple[str, Estimate]]) -> None:
    assert {place for place, figure in figures if has_none(place) and figure.level is not None} == set()
