"""Leaderboard, metrics, site and app agree for every agent, arm and attempt, and with the records."""

from __future__ import annotations

import asyncio
import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.measuring import QUICK
from results.random_worlds import RandomWorld
from running.profiles import examples
from worksample.app import AppConfig, create_app
from worksample.metrics import Estimate
from worksample.people import People, final_verdicts
from worksample.records import EvaluatorKind, Protocol
from worksample.reports import BoardRow, ReportConfig, leaderboard, write_report
from worksample.reports.heat_map import heat_of
from worksample.reports.sections import MeasureConfig, Section, measure
from worksample.results.result_set import ResultSet
from worksample.results.slot_results import slots_df
from worksample.store import Store

PROTOCOLS = (Protocol.PROGRAM, Protocol.RUBRIC, Protocol.HOLISTIC)
PASSES = {
    Protocol.PROGRAM: [("scores", "full pass")],
    Protocol.RUBRIC: [("scores", "full pass"), ("rubric", "completion")],
    Protocol.HOLISTIC: [("automation", "automation rate")],
}
SCORES = {
    Protocol.PROGRAM: [("scores", "mean score")],
    Protocol.RUBRIC: [("scores", "mean score"), ("rubric", "rubric score")],
    Protocol.HOLISTIC: [],
}


def place(world: RandomWorld, row: BoardRow) -> tuple[str, str, int]:
    return row.name.partition(" (")[0], row.arm, row.attempt


def label(world: RandomWorld, name: str, arm: str) -> str:
    return f"{name} ({arm})" if len(world.arms) > 1 else name


def figures(sections: tuple[Section, ...]) -> dict[tuple[str, str, str], Estimate]:
    return {
        (section.id, row.label, column): cell
        for section in sections
        for row in section.rows
        for column, cell in zip(section.columns, row.cells, strict=True)
        if isinstance(cell, Estimate)
    }


def same(one: float | None, other: float | None) -> None:
    assert (one is None) == (other is None)
    assert one is None or other is None or one == pytest.approx(other, abs=1e-12)


def agrees_with_the_records(world: RandomWorld, rows: dict[tuple[str, str, int], BoardRow]) -> None:
    cells = world.cells()
    assert rows.keys() == cells.keys()
    for key, told in cells.items():
        row = rows[key]
        decided = [t for t in told if t is not None and t["score"] is not None]
        passed = [t["passed"] for t in decided if t["passed"] is not None]
        assert (row.planned, row.valid, row.ungraded) == (len(told), len(decided), len(told) - len(decided))
        same(row.passed.value, sum(passed) / len(passed) if passed else None)
        same(row.score.value, sum(t["score"] for t in decided) / len(decided) if decided else None)
        low, high = row.bounds
        assert low is not None and high is not None and low <= high
        assert row.passed.value is None or len(passed) < len(told) or low == high == pytest.approx(row.passed.value)


def agrees_with_metrics(world: RandomWorld, rows: dict[tuple[str, str, int], BoardRow]) -> None:
    found = figures(measure(world.store, (), MeasureConfig(how=QUICK)))
    graded = any(row.valid + row.ungraded for row in rows.values()) and world.in_force() is not None
    for (name, arm, attempt), row in rows.items():
        if attempt > 1:
            continue
        who = label(world, name, arm)
        for columns, mine in ((PASSES, row.passed), (SCORES, row.score)):
            for section, column in columns[world.protocol]:
                theirs = found.get((section, who, column))
                assert (theirs is not None) == graded, (section, who)
                if theirs is not None:
                    same(mine.value, theirs.value)
                    assert (mine.counts.valid, mine.counts.planned) == (theirs.counts.valid, theirs.counts.planned)
        if ("dollars", who, "earned") in found:
            same(row.earned.value, found["dollars", who, "earned"].value)


def agrees_with_the_app(world: RandomWorld) -> None:
    """The frame that exports hold, the one of reports, and the verdicts that an admin sees of the round."""
    round, told = world.in_force(), world.verdicts()
    work = ResultSet(world.store, [world.world.experiment])
    frame = {row["submission"]: row for row in work.frame(world.protocol).iter_rows(named=True)}
    exported = {row["submission"]: row for row in slots_df(world.store, "x1").iter_rows(named=True)}
    shown = final_verdicts(world.store, round.id) if round is not None else {}
    assert frame.keys() == exported.keys() == world.made.keys()
    assert shown.keys() == told.keys()
    for id, row in frame.items():
        expected = told.get(id)
        for name in ("score", "passed"):
            wanted = expected[name] if expected else None
            same(row[name], wanted)
            same(exported[id][name], wanted)
            if id in shown:
                same(getattr(shown[id].verdict, name), wanted)
        assert row["standing"] == exported[id]["standing"] == (expected["standing"] if expected else "ungraded")
        assert row["evaluations"] == exported[id]["evaluations"]
        if id in shown:
            assert (list(shown[id].verdict.evaluations), shown[id].verdict.standing) == (
                row["evaluations"] or [], row["standing"],
            )  # fmt: skip


def served(store: Store, round: str) -> dict[str, Any]:
    """What the app's page of a round is given, as an admin asks for it who wants the names."""
    people, config = People(store), AppConfig()
    admin = people.accounts.accept(people.accounts.invite(("admin",)), "root", None)
    headers = {"authorization": f"Bearer {people.accounts.open_session(admin)}"}

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(store, config))
        async with httpx.AsyncClient(transport=transport, base_url=config.app_origin, headers=headers) as client:
            return await client.get(f"/api/v1/rounds/{round}/verdicts", params={"names": True})

    answer = asyncio.run(ask())
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def agrees_with_the_page_of_the_round(world: RandomWorld) -> None:
    """Cell by cell, and whose work each row is, where people decide: the app has no page of another round."""
    round = world.in_force()
    if round is None or round.by is not EvaluatorKind.PERSON:
        return
    rows = {row["submission"]: row for row in served(world.store, round.id)["verdicts"]}
    work = ResultSet(world.store, [world.world.experiment]).frame(world.protocol)
    frame = {row["submission"]: row for row in work.iter_rows(named=True)}
    assert rows.keys() == world.verdicts().keys()
    for id, row in rows.items():
        name, arm, attempt = world.made[id]
        assert name in row["agent"] and (arm == "plain" or arm in row["agent"]), row
        assert attempt == 1 or str(attempt) in row["agent"], row
        same(row["score"], frame[id]["score"])
        same(row["passed"], frame[id]["passed"])
        assert row["standing"] == frame[id]["standing"]
        assert row["evaluations"] == (frame[id]["evaluations"] or [])


def agrees_with_the_heat_map(world: RandomWorld, rows: dict[tuple[str, str, int], BoardRow]) -> None:
    work = ResultSet(world.store, [world.world.experiment])
    heat = heat_of(work.frame(world.protocol))
    by_name = {row.name: row for row in rows.values()}
    assert {column.name for column in heat.agents} == by_name.keys()
    for n, column in enumerate(heat.agents):
        cells = [line.cells[n] for line in heat.rows]
        row = by_name[column.name]
        assert sum(cell.graded for cell in cells) == row.valid
        scores = [cell.score for cell in cells if cell.score is not None]
        same(row.score.value, sum(scores) / len(scores) if scores else None)


@pytest.mark.long
@settings(deadline=None, max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9), st.sampled_from(PROTOCOLS))
def test_every_figure_comes_from_one_frame(seed: int, protocol: Protocol) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s", create=True) as store:
        world = RandomWorld(store, random.Random(seed), protocol)
        rows = {place(world, row): row for row in leaderboard(store).rows}
        agrees_with_the_records(world, rows)
        agrees_with_metrics(world, rows)
        agrees_with_the_app(world)
        agrees_with_the_page_of_the_round(world)
        agrees_with_the_heat_map(world, rows)


def shown_rows(page: str) -> list[list[str]]:
    """The leaderboard of a page: of each row the agent, then the value that each column is sorted by."""
    table = re.search(r'<table class="board.*?</table>', page, re.DOTALL)
    assert table is not None
    return [
        [name, *re.findall(r'<td data-v="(.*?)"', cells)]
        for name, cells in re.findall(r'<tr><th scope="row">(.*?)<span.*?</th>(.*?)</tr>', table[0], re.DOTALL)
    ]


def shown_heat(page: str) -> list[list[str]]:
    """Of each task on a page its mean score, where there is one, and the counts, agent by agent."""
    table = re.search(r'<table class="heat sortable filterable">.*?</table>', page, re.DOTALL)
    assert table is not None
    lines = re.findall(r'<tr><th scope="row">.*?</tr>', table[0], re.DOTALL)
    cell = r'<td class="h." title=".*?"(?: data-v="(.*?)")?>.*?<small>(.*?)</small>'
    return [[part for found in re.findall(cell, line, re.DOTALL) for part in found] for line in lines]


def written(value: float | None) -> str:
    return "" if value is None else str(value)


@pytest.mark.quick("1")
@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_site_shows_the_same_cells(tmp_path: Path, seed: int) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        world = RandomWorld(store, random.Random(seed), PROTOCOLS[seed % 3])
        board = leaderboard(store)
        heat = heat_of(ResultSet(store, [world.world.experiment]).frame(world.protocol))
        write_report(store, (), tmp_path / "site", ReportConfig(pages=False, measures=MeasureConfig(how=QUICK)))
        agrees_with_the_records(world, {place(world, row): row for row in board.rows})
    kept = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert kept["rows"] == json.loads(json.dumps(board.plain()["rows"], default=str))
    page = (tmp_path / "site" / "index.html").read_text()
    assert shown_rows(page) == [
        [
            row.name,
            *(written(e.value) for e in (row.passed, row.score, row.s_partial, row.earned)),
            *(written(e.value) for e in (row.cost, row.seconds, row.tokens, row.steps)),
            str(row.valid),
        ]
        for row in board.rows
    ]
    column = {agent.name: n for n, agent in enumerate(heat.agents)}
    order = [column[row.name] for row in board.rows]
    assert shown_heat(page) == [
        [
            part
            for n in order
            for part in (written(line.cells[n].score), f"{line.cells[n].graded}/{line.cells[n].planned}")
        ]
        for line in heat.rows
    ]
