"""The static site: no script or external address, every plot in three forms, hostile names as text."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import polars as pl
import pytest
from PIL import Image

from store import worlds
from worksample.errors import UsageError
from worksample.metrics import (
    Approach,
    Unit,
    compare_tables,
    decide_by_value,
    elo_ratings,
    lifts_from_counts,
    mean_score,
    rate,
)
from worksample.reports import ReportConfig, write_report
from worksample.reports.plots import Axis, Canvas, value_curves
from worksample.reports.sections import Section, SectionRow
from worksample.reports.static_site.charts import measured_charts
from worksample.reports.static_site.section_tables import view_of
from worksample.store import Store

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '"><script>alert(1)</script> $\\frac{ 中\U0001f600'


def simulator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate", ROOT / "tools" / "simulate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate"] = module
    spec.loader.exec_module(module)
    return module


def without_ours(page: str) -> str:
    """A page without the script for tables, which must be all that its policy allows: the digest stands there."""
    head, _, rest = page.partition("<script>")
    script, _, tail = rest.partition("</script>")
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}';" in head.replace("&#39;", "'")
    else:
        assert "script-src" not in head
    return head + tail


def check_site(site: Path) -> dict[str, str]:
    """Assert what holds for every site; returns its pages by path."""
    pages = {p.relative_to(site).as_posix(): p.read_text() for p in site.rglob("*.html")}
    for name, whole in pages.items():
        page = without_ours(whole)
        assert not re.search(r"<script|javascript:|\son\w+=", re.sub(r"&[a-z0-9#]+;", "", page)), name
        assert "default-src 'none'" in page.replace("&#39;", "'"), name
        for link in re.findall(r'(?:src|href|srcset)="([^"]*)"', page):
            assert not re.match(r"(?:https?:)?//", link), (name, link)
            if not link.startswith(("data:", "#")):
                assert ((site / name).parent / link.partition("#")[0]).is_file(), (name, link)
    plots = {p.stem for p in (site / "plots").glob("*.png")}
    for plot in plots:
        ElementTree.parse(site / "plots" / f"{plot}.svg")
        ElementTree.parse(site / "plots" / f"{plot}-dark.svg")
        assert "http" not in re.sub(r'(?:xmlns\S*|rdf:\w+|<!DOCTYPE[^>]*)="?[^">]*', "", _drawn(site, plot)), plot
        with Image.open(site / "plots" / f"{plot}.png") as image:
            image.verify()
        assert pl.read_csv(site / "plots" / f"{plot}.csv").height, plot
    assert (site / "index.html").stat().st_size < 5_000_000
    return pages


def _drawn(site: Path, plot: str) -> str:
    """The text of an SVG without its metadata and namespaces."""
    text = (site / "plots" / f"{plot}.svg").read_text()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(r"<!DOCTYPE.*?>|<svg [^>]*>|<\?xml.*?\?>", "", text, flags=re.DOTALL)


def graded(store: Store, world: worlds.World, *scores: float) -> Store:
    for slot, score in enumerate(scores):
        trial = world.trial(slot, f"t{slot}", ended=slot + 1)
        store.commit(trial, world.submission(trial))
        store.commit(world.evaluation(f"s-{trial.id}", f"e{slot}", score, instance=trial.instance))
    return store


@pytest.fixture
def where(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.mark.thorough(quick="reports/test_static_site.py::test_hostile_names_are_text_on_pages_and_plots")
def test_simulated_benchmark_of_votes_has_every_plot(tmp_path: Path) -> None:
    tool = simulator()
    tool.simulate(tmp_path / "sim", tool.Size(projects=24, agents=3, share=0.9, seed=5))
    site = tmp_path / "site"
    with Store.open(tmp_path / "sim") as store:
        write_report(store, [], site, ReportConfig(illustrative=True, pages=False))
    pages = check_site(site)
    assert {"index.html", "metrics.html", "work.html"} <= pages.keys()
    plots = {p.stem for p in (site / "plots").iterdir()}
    assert {"pass", "automation", "dollars", "autoflation", "value-1", "work-cost-hours", "heat-tasks"} <= plots
    sections = {s["id"]: s for s in json.loads((site / "metrics.json").read_text())}
    assert {"automation", "elo", "integrity", "automation-with-struck"} <= sections.keys()
    for section in sections.values():
        assert f'id="{section["id"]}"' in pages["metrics.html"]
        assert section["fault"] == ""


def test_simulation_is_repeatable_and_named(tmp_path: Path) -> None:
    tool = simulator()
    size = tool.Size(projects=4, agents=2)
    one, two = (list(tool.World(size).records()) for _ in range(2))
    assert [r.digest for r in one] == [r.digest for r in two]
    assert all(a.name.startswith("simulated") for a in tool.World(size).agents)


def test_single_agent_is_shown(where: Store, tmp_path: Path) -> None:
    world = worlds.World(agents=[worlds.Agent.of("ann", "scripted")])
    graded(worlds.planted(where, world), world, 1.0, 0.5, 0.0, 1.0)
    write_report(where, [], tmp_path / "site")
    pages = check_site(tmp_path / "site")
    assert "ann" in pages["metrics.html"]
    assert not (tmp_path / "site" / "plots" / "score-dollars.svg").exists()


def test_plan_without_a_trial_has_pages_and_no_number(where: Store, tmp_path: Path) -> None:
    worlds.planted(where, worlds.World())
    write_report(where, [], tmp_path / "site")
    pages = check_site(tmp_path / "site")
    assert "8 planned trials" in pages["index.html"]
    assert not (tmp_path / "site" / "plots" / "pass.svg").exists()


def test_empty_store_writes_nothing(where: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_report(where, [], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_hostile_names_are_text_on_pages_and_plots(where: Store, tmp_path: Path) -> None:
    def named(name: str, task: str, category: str) -> worlds.Instance:
        plain = worlds.instance_of(name, task)
        return plain.replaced(title=HOSTILE, about=plain.about.replaced(category=category, tier=HOSTILE))

    instances = [named("may", "report", HOSTILE), named("june", "letter", "=1+1")]
    agents = [worlds.Agent.of("ann", "scripted", model=HOSTILE), worlds.Agent.of("bob", "worker", model=HOSTILE)]
    world = worlds.World(agents=agents, instances=instances)
    graded(worlds.planted(where, world), world, 1.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.2, 0.4)
    write_report(where, [], tmp_path / "site")
    pages = check_site(tmp_path / "site")
    for page in ("index.html", "metrics.html", "work.html"):
        assert "&lt;script&gt;alert(1)" in pages[page], page
    assert HOSTILE in pl.read_csv(tmp_path / "site" / "plots" / "heat-categories.csv")["row"].to_list()


def test_scrolling_areas_are_reached_by_keyboard() -> None:
    for page in (ROOT / "src/worksample/reports/templates").glob("*.html"):
        bare = re.findall(r'<(?:pre|div class="scroll")(?![^>]*tabindex)[^>]*>', page.read_text(encoding="utf-8"))
        assert not bare, f"{page.name}: {bare}"


def test_table_headings_do_not_break_inside_words() -> None:
    style = (ROOT / "src/worksample/reports/templates/style.css").read_text(encoding="utf-8")
    (rule,) = re.findall(r"\.heat th\[scope\],[^{]*\{([^}]*)\}", style[style.index("@media (max-width") :])
    # `anywhere` would let a column shrink below its longest word; `break-word` breaks only what no line can hold.
    assert "white-space: normal" in rule and "overflow-wrap: break-word" in rule


def test_unconnected_comparisons_have_no_elo_and_a_reason(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"project": ["p", "q"], "first": ["human", "c"], "second": ["b", "d"], "preference": [1.0, 0.5]}
    )
    ratings = elo_ratings(compare_tables(table)).ratings
    rows = tuple(SectionRow(name, name, (e,)) for name, e in ratings.items())
    section = Section("elo", "Elo scores", "RLI 3.3", ("Elo",), rows)
    view = view_of(section)
    assert [cells[0].text for _, cells in view.rows] == ["–"] * 4
    assert any(note.startswith("– ") for note in view.notes)
    measured_charts(canvas := Canvas(tmp_path), [section])
    assert canvas.plots == []


def test_grouped_headings_are_above_their_columns() -> None:
    section = Section(
        "t", "T", "", ("easy: pass", "easy: score", "hard: pass"), (SectionRow("a", "a", ("1", "2", "3")),)
    )
    view = view_of(section)
    assert [(g.says, g.span) for g in view.groups] == [("easy", 2), ("hard", 1)]
    assert view.heads == ("pass", "score", "pass")


def test_value_curves_show_three_regions_in_order(tmp_path: Path) -> None:
    lines = [Approach("AI", 0.4, 1), Approach("AI with help", 0.7, 20), Approach("human", 1.0, 200)]
    decision = decide_by_value(lines)
    assert len(decision.regions) == 3
    value_curves(Canvas(tmp_path), Axis("value", "", "dollars"), lines, decision)
    best = pl.read_csv(tmp_path / "value.csv")["best"].to_list()
    assert list(dict.fromkeys(best)) == ["AI", "AI with help", "human"]
    assert best == sorted(best, key=["AI", "AI with help", "human"].index)


def test_lifts_are_drawn_side_by_side_and_as_bars_best_first(tmp_path: Path) -> None:
    rows = tuple(
        SectionRow(name, name, lifts_from_counts(322, *counts).all())
        for name, counts in {"a": (128, 190, 38), "b": (110, 200, 50), "c": (0, 0, 0)}.items()
    )
    columns = ("p1", "p overall", "absolute lift", "relative lift", "rescue rate")
    measured_charts(canvas := Canvas(tmp_path), [Section("lifts", "Lifts", "UpBench C", columns, rows)])
    assert {p.name for p in canvas.plots} == {"completion", "lift", "rescue"}
    both = pl.read_csv(tmp_path / "completion.csv")
    assert both["series"].unique().sort().to_list() == ["p overall", "p1"]
    lift = pl.read_csv(tmp_path / "lift.csv")
    assert lift["label"].to_list() == ["b", "a", "c"]
    assert lift["value"].to_list() == [50 / 110, 38 / 128, None]
    assert lift["reason"].to_list()[2]


def test_value_curves_are_drawn_per_agent_and_arm(tmp_path: Path) -> None:
    p1, cost = rate([True, False, False, False]), mean_score([1.0, 3.0, 2.0, 2.0], unit=Unit.USD)
    rows = tuple(
        SectionRow(f"{who}: {what}", "same", cells)
        for who in ("ann, plain", "ann, rubric")
        for what, cells in (("AI alone", (p1, cost, "", "")), ("human", ("100.0 (assumed)", "1,200.00", "", "")))
    )
    section = Section("value", "Value", "UpBench 5.4", ("success", "cost per job", "break-even", "best"), rows)
    measured_charts(canvas := Canvas(tmp_path), [section])
    assert [p.name for p in canvas.plots] == ["value-1", "value-2"]
    last = pl.read_csv(tmp_path / "value-1.csv").row(-1, named=True)
    assert last["best"] == "human"
    assert last["expected human"] == pytest.approx(last["task_value"] - 1200)
    assert last["expected AI alone"] == pytest.approx(0.25 * last["task_value"] - 2)
