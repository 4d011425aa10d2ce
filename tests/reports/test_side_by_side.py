"""Agents side by side on a task, scores by release date, budget curves, and texts of criteria."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reports.test_static_site import check_site
from store import worlds
from worksample.metrics import Estimate, Unit, mean_score
from worksample.records import Criteria, Criterion, GradePayload, Instance, PartPayload
from worksample.reports import ReportConfig, write_report
from worksample.reports.heat_map import heat_of
from worksample.reports.plots import Axis, Canvas, DatedFigure, budget_curves, scores_over_time
from worksample.reports.sections import Section, SectionRow
from worksample.reports.static_site.charts import measured_charts
from worksample.reports.static_site.comparison_pages import MOST, STEPS, group_by_instance, piece_of, texts_of
from worksample.reports.static_site.transcript import Call, TranscriptStep
from worksample.store import Store

HOSTILE = "</td><script>alert(1)</script>"
AXIS = Axis("over", "A caption.", "score", share=True)


def score(value: float | None) -> Estimate:
    if value is None:
        return mean_score([None], task=["a"], unit=Unit.SHARE)
    return mean_score([value] * 8, task=list("abcdefgh"), unit=Unit.SHARE)


def row(agent: str, instance: Instance, repeat: int = 1) -> dict[str, Any]:
    return {"entry_label": agent, "repeat": repeat, "instance": instance.id}


def asking(*texts: str) -> Instance:
    found = worlds.instance_of("may", "report")
    (protocol, grading), *_ = found.grading.items()
    leaves = tuple(Criterion(id=f"c{at}", text=text, points=1) for at, text in enumerate(texts))
    return found.replaced(grading={protocol: grading.replaced(criteria=Criteria(criteria=leaves))})


def grade(*fractions: float) -> GradePayload:
    parts = tuple(PartPayload(name=f"c{at}", points=1, fraction=f) for at, f in enumerate(fractions))
    return GradePayload(score=sum(fractions) / len(fractions), parts=parts)


def test_each_criterion_is_listed_once_with_its_text_for_all_agents() -> None:
    instance = asking("The total is right.", "The memo names it.")
    pieces = [
        piece_of(row("hasty", instance), "h.html", grade(0.0), (), ()),
        piece_of(row("good", instance), "g.html", grade(1.0, 1.0), (), ()),
        piece_of(row("good", instance, 2), "g2.html", None, (), ()),
    ]
    (side,) = group_by_instance(pieces, {instance.id: instance}, ["good", "hasty"])
    assert [piece.agent_name for piece in side.pieces] == ["good", "good, repeat 2", "hasty"]
    assert [line.text for line in side.criteria] == ["The total is right.", "The memo names it."]
    shown = [[None if part is None else part.fraction for part in line.parts] for line in side.criteria]
    assert shown == [[1.0, None, 0.0], [1.0, None, None]]


def test_excess_is_counted_and_not_shown() -> None:
    instance = asking("One thing.")
    steps = [
        TranscriptStep("user", "do it"),
        *(TranscriptStep("agent", "", (Call("bash", "\n ls -l \nmore"),)) for _ in range(STEPS + 5)),
    ]
    pieces = [piece_of(row(f"agent-{at:02}", instance), "p", None, (), steps) for at in range(MOST + 3)]
    (side,) = group_by_instance(pieces, {instance.id: instance}, [])
    assert (len(side.pieces), side.left_out) == (MOST, 3)
    assert side.pieces[0].steps == ("bash: ls -l",) * STEPS


def test_texts_reach_into_branches() -> None:
    leaf = Criterion(id="inner", text="The inner thing.", points=1)
    branch = Criterion(id="outer", text="All of it.", parts=(leaf,))
    instance = asking("x")
    (protocol, grading), *_ = instance.grading.items()
    deep = instance.replaced(grading={protocol: grading.replaced(criteria=Criteria(criteria=(branch,)))})
    assert texts_of(deep) == {"outer": "All of it.", "inner": "The inner thing."}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    world = worlds.World(instances=[asking(f"The total is right {HOSTILE}", "The memo names it.")])
    store = worlds.planted(Store.open(tmp_path / "store", create=True), world)
    for slot in range(min(2, len(world.slots))):
        trial = world.trial(slot, f"t{slot}", ended=slot + 1)
        store.commit(trial, world.submission(trial))
        given = world.evaluation(f"s-{trial.id}", f"e{slot}", 0.5, instance=trial.instance)
        store.commit(given.replaced(payload=grade(1.0, 0.0)))
    write_report(store, [], tmp_path / "site", ReportConfig(name="beside"))
    return tmp_path / "site"


def test_site_shows_agents_side_by_side_and_runs_nothing(site: Path) -> None:
    pages = check_site(site)
    (name,) = [name for name in pages if name.startswith("compare/")]
    page = pages[name]
    assert f'href="../{name}"' in pages[name.replace("compare/", "tasks/")]
    assert "The memo names it." in page and "<script>alert" not in page
    assert len(re.findall(r'<th data-who="', page)) == 2
    trial = next(text for path, text in pages.items() if path.startswith("trials/"))
    assert "The memo names it.</strong> <code" in trial and f'href="../../{name}"' in trial


def test_missing_pages_have_no_links(tmp_path: Path) -> None:
    world = worlds.World()
    store = worlds.planted(Store.open(tmp_path / "store", create=True), world)
    write_report(store, [], tmp_path / "site", ReportConfig(pages=False))
    assert not (tmp_path / "site" / "compare").exists()
    check_site(tmp_path / "site")


def test_scores_are_shown_at_release_with_the_best_so_far(tmp_path: Path) -> None:
    canvas = Canvas(tmp_path)
    agents = [
        DatedFigure("new", date(2026, 5, 1), score(0.3)),
        DatedFigure("old", date(2025, 1, 1), score(0.5)),
        DatedFigure("none", date(2026, 1, 1), score(None)),
    ]
    scores_over_time(canvas, AXIS, agents)
    table = pl.read_csv(tmp_path / "over.csv")
    assert table.select("name", "released", "value").rows() == [("old", "2025-01-01", 0.5), ("new", "2026-05-01", 0.3)]
    scores_over_time(canvas, AXIS, agents[:1])
    assert len(canvas.plots) == 1


def test_budgets_become_curves_in_the_agents_colours(tmp_path: Path) -> None:
    canvas = Canvas(tmp_path, colours={"a": "#123456"})
    rows = tuple(SectionRow(name, name, (score(0.25), score(None), score(0.5))) for name in ("a", "b"))
    section = Section("budget-cost", "Score against dollars", "", ("$0.5", "$1", "$2,000"), rows)
    measured_charts(canvas, [section])
    assert [plot.name for plot in canvas.plots] == ["budget-cost"]
    assert pl.read_csv(tmp_path / "budget-cost.csv")["budget"].to_list() == [0.5, 1.0, 2000.0]
    assert "#123456" in (tmp_path / "budget-cost.svg").read_text()
    budget_curves(canvas, AXIS, [1.0], {"a": [score(0.5)]})
    assert len(canvas.plots) == 1


def test_heat_map_columns_follow_the_leaderboard() -> None:
    names = ["zoe", "amy", "max"]
    frame = pl.DataFrame(
        {
            "slot": ["1", "2", "3"], "state": ["valid"] * 3, "task": ["t"] * 3, "category": ["c"] * 3,
            "entry": names, "entry_label": names, "score": [0.1, 0.2, 0.3],
        }
    )  # fmt: skip
    assert [column.name for column in heat_of(frame).agents] == ["amy", "max", "zoe"]
    assert [column.name for column in heat_of(frame, order=["zoe", "amy"]).agents] == ["zoe", "amy", "max"]
