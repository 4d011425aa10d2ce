"""Costs that are only bounds are marked in value, regions, advice and their pages."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli
from reports.measuring import cell, sections
from reports.people_world import PeopleWorld
from worksample.records import Agent, Arm, Feedback, GradePayload, Protocol, Usage
from worksample.records.trial import Fed
from worksample.store import Store

JOBS = 12
ARMS = (Arm(name="first"), Arm(name="experts", feedback=Feedback.PEOPLE, continues="first"))
BOUNDS = {
    "1 trials have requests whose outcome is unknown: a lower bound": Usage(
        calls=1, unsettled=1, input_tokens=10, cost=1.0, unsettled_cost=0.5
    ),
    "1 trials made calls without a price: a lower bound": Usage(calls=2, unpriced=1, input_tokens=10, cost=1.0),
    "1 trials have cached tokens at the price of fresh ones: an upper bound": Usage(
        calls=1, input_tokens=10, cost=1.0, priced=True, cached_as_input=1
    ),
    "1 trials have estimated tokens": Usage(calls=1, estimated=1, input_tokens=10, cost=1.0),
}


def filled(folder: Path, used: Usage | None) -> Store:
    """Jobs of which each third passes at once; the first trial's cost is as `used` says."""
    store = Store.open(folder, create=True)
    agents = [Agent.of("ann", "worker", model="m/1", release_date=date(2026, 1, 1))]
    made = PeopleWorld(store, Protocol.PROGRAM, agents, [100.0] * JOBS, attempts=2, arms=ARMS)
    made.round("r1", Protocol.PROGRAM, 1)
    for n in range(JOBS):
        more: dict[str, Any] = {"usage": {"agent": used}} if used is not None and n == 0 else {}
        first, won = made.work(0, n, arm="first", **more), n % 3 == 0
        said = made.say("r1", first, n, GradePayload(score=float(won), reason="" if won else "no"), minutes=10)
        if not won:
            again = made.work(0, n, 2, arm="experts", fed=Fed(submission=first, evaluations=(said,)))
            made.say("r1", again, n, GradePayload(score=float(n < JOBS - 3)))
    return store


@pytest.mark.parametrize("mark", BOUNDS)
def test_value_and_regions_mark_costs_that_are_bounds(tmp_path: Path, mark: str) -> None:
    with filled(tmp_path / "s", BOUNDS[mark]) as store:
        found = sections(store, hourly=60.0)
        for way in ("AI alone", "AI with feedback"):
            label = next(row.label for row in found["value"].rows if row.label.endswith(way))
            for column in ("cost per job", "break-even with the human"):
                assert mark in cell(found["value"], label, column).notes
        assert any(note.startswith("costs of ann") and note.endswith(mark) for note in found["feedback-regions"].notes)


def test_settled_costs_are_not_marked(tmp_path: Path) -> None:
    with filled(tmp_path / "s", None) as store:
        found = sections(store, hourly=60.0)
        assert not any("bound" in note for note in found["feedback-regions"].notes)
        assert not any("bound" in note for row in found["value"].rows for one in row.cells
                       for note in getattr(one, "notes", ()))  # fmt: skip


@pytest.mark.parametrize("hourly", [(), ("--hourly", "60")])
def test_advice_marks_bounds_in_text_json_and_page(tmp_path: Path, hourly: tuple[str, ...]) -> None:
    mark = "1 trials made calls without a price: a lower bound"
    filled(tmp_path / "s", BOUNDS[mark]).close()
    (tmp_path / "jobs.csv").write_text("title,description,value,hours\nA job,Do the job,120,2\n")
    words = ("advise", tmp_path / "jobs.csv", "--store", tmp_path / "s", "--wage", "40", *hourly)
    told = cli(*words, "--json", "--out", tmp_path / "page")
    assert told.returncode == 0, told.stderr
    assert f"costs of ann: {mark}" in json.loads(told.stdout)["notes"]
    assert mark in (tmp_path / "page" / "advice.html").read_text()
    shown = cli(*words)
    assert mark in " ".join((shown.stdout + shown.stderr).split())
