"""Readability of a report: a summary sentence, one colour per agent, labels, pictures for dark pages."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from reports.test_static_site import graded
from store import worlds
from worksample.metrics import Unit, mean_score
from worksample.records import Agent
from worksample.reports import ReportConfig, leaderboard, write_report
from worksample.reports.figure_formatting import unit_figure
from worksample.reports.plots import Axis, Bars, Canvas, Points, interval_bars, score_points
from worksample.reports.plots.canvas import INK
from worksample.reports.plots.point_labels import name_points
from worksample.reports.sections import Section, SectionRow
from worksample.reports.static_site.section_tables import view_of
from worksample.reports.static_site.summary import summary_of
from worksample.results.result_set import ResultSet
from worksample.store import Store
from worksample.tasks.taxonomy import categories, lookup, title_of


def amount(value: float) -> Any:
    return mean_score([value, value], task=["a", "b"], unit=Unit.NUMBER)


def summarised(store: Store) -> Any:
    board = leaderboard(store)
    work = ResultSet(store, board.experiments)
    return summary_of(board, work.frame(work.primary), {})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_summary_sentence_states_finding_and_certainty(store: Store) -> None:
    world = worlds.World(instances=[worlds.instance_of("may", "report"), worlds.instance_of("june", "letter")])
    graded(worlds.planted(store, world), world, 1.0, 1.0, 0.0)
    found, best = summarised(store), leaderboard(store).rows[0]
    assert found.headline.startswith(f"{best.label} passes {100 * (best.passed.value or 0):.1f} % of the work on ")
    assert "95 % interval" in found.headline
    assert "are few" in found.sure
    assert len(found.offers) == sum(row.passed.value is not None for row in leaderboard(store).rows)
    assert any("planned trials have not been run yet" in line for line in found.checks)


def test_ungraded_report_concludes_nothing(store: Store) -> None:
    worlds.planted(store, worlds.World())
    found = summarised(store)
    assert "no conclusion" in found.headline
    assert found.offers == () and found.sure == ""


def test_cost_per_passed_job_is_unknown_if_none_passed(store: Store) -> None:
    world = worlds.World(agents=[Agent.of("ann", "scripted")])
    graded(worlds.planted(store, world), world, 0.0, 0.0, 0.0, 0.0)
    (offer,) = summarised(store).offers
    assert offer.passed.value == 0
    assert offer.cost_passed is None


def test_site_links_to_the_summary(store: Store, tmp_path: Path) -> None:
    world = worlds.World()
    graded(worlds.planted(store, world), world, 1.0, 1.0, 0.0)
    write_report(store, [], tmp_path / "site", ReportConfig(pages=False))
    index, summary = ((tmp_path / "site" / name).read_text() for name in ("index.html", "summary.html"))
    headline = summarised(store).headline
    assert headline in summary and headline in index and 'href="summary.html"' in index


def test_agent_has_one_colour_in_all_plots(tmp_path: Path) -> None:
    names = [f"agent-{i}" for i in range(4)]
    canvas = Canvas(tmp_path)
    estimates = [amount(0.2 * i + 0.1) for i in range(4)]
    interval_bars(canvas, Axis("bars", "", "share", share=True), Bars(names, {"x": estimates}))
    turned = list(reversed(names))
    score_points(
        canvas, Axis("points", "", "dollars", share=True), Points(turned, estimates, list(reversed(estimates)))
    )
    colours = [canvas.colour_of(name) for name in names]
    assert len(set(colours)) == 4
    for plot in ("bars", "points"):
        drawn = (tmp_path / f"{plot}.svg").read_text()
        assert all(colour in drawn for colour in colours), plot


def test_plot_has_a_version_for_dark_pages(tmp_path: Path) -> None:
    canvas = Canvas(tmp_path)
    text = f"colour: {INK};x"
    interval_bars(canvas, Axis("bars", "", "share"), Bars([text, "two"], {"x": [amount(0.5), amount(0.25)]}))
    light, dark = ((tmp_path / f"bars{twin}.svg").read_text() for twin in ("", "-dark"))
    assert "fill: #ffffff" in light and "#ffffff" not in dark
    drawn = re.sub(r">[^<]*<", "><", re.sub(r"<!--.*?-->", "", dark, flags=re.DOTALL))
    assert INK not in drawn, "what is drawn is light"
    assert len(light) == len(dark)


def test_spread_has_no_sign_and_difference_has_one() -> None:
    assert unit_figure(0.267, Unit.SPREAD) == "26.7 pp" and unit_figure(0.267, Unit.SPREAD, 0) == "27 pp"
    assert unit_figure(0.267, Unit.POINTS) == "+26.7 pp" and unit_figure(-0.267, Unit.POINTS) == "-26.7 pp"


def test_labels_are_at_their_own_points() -> None:
    from matplotlib.figure import Figure

    for seed in range(12):
        chance = random.Random(seed)
        count = 3 + seed
        dots = [(f"agent number {i}", chance.random() ** 2, chance.random(), "#00796b", 45.0) for i in range(count)]
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        axes.scatter([d[1] for d in dots], [d[2] for d in dots])
        axes.margins(x=0.12)
        name_points(figure, axes, dots)
        spots = {name: axes.transData.transform((x, y)) for name, x, y, *_ in dots}
        assert sorted(t.get_text() for t in axes.texts) == sorted(spots)
        for text in axes.texts:
            box = text.get_window_extent()
            over = [name for name, spot in spots.items() if name != text.get_text() and box.contains(*spot)]
            assert not over, (seed, text.get_text(), over)
            if getattr(text, "arrow_patch", None) is None:
                away = min(abs(box.x0 - spots[text.get_text()][0]), abs(box.x1 - spots[text.get_text()][0]))
                assert away < 25 or box.x0 < spots[text.get_text()][0] < box.x1


def test_missing_figures_are_folded_away() -> None:
    empty = mean_score([], task=[])
    bare = Section("a", "A", "", ("x",), (SectionRow("who", None, (empty,)),))
    told = Section("b", "B", "", ("x",), (SectionRow("who", None, (amount(1.0),)),))
    broken = Section("c", "C", "", ("x",), (), fault="it broke")
    assert [view_of(s).bare for s in (bare, told, broken)] == [True, False, False]


def test_section_shows_titles_for_ids() -> None:
    id = "upwork:writing/content-writing"
    section = Section("a", "A", "", (f"{id}: pass",), (SectionRow(id, None, (amount(1.0),)),))
    view = view_of(section)
    assert [head.says for head in view.groups] == [label for label, _ in view.rows] == [title_of(id)]
    assert title_of(id) != id


@pytest.mark.parametrize("asked", [False, True])
def test_peoples_effort_is_shown_and_marked_if_invented(store: Store, asked: bool) -> None:
    world = worlds.World()
    graded(worlds.planted(store, world), world, 1.0)
    board = leaderboard(store)
    work = ResultSet(store, board.experiments)
    found = summary_of(board, work.frame(work.primary), {}, illustrative=asked)
    assert ("only illustrative" in found.human) is asked
    assert ("$" in found.human) is asked


def test_categories_have_titles() -> None:
    assert title_of("nobody:knows") == "nobody:knows"
    for category in categories("upwork"):
        above = f"{lookup(category.parent).title}: " if category.parent else ""
        assert title_of(category.id) == above + category.title
