"""Drawings in the real viewer: layers, layouts, lengths, and far outliers."""

from __future__ import annotations

import os

import pytest

from app.viewers.showing import Panes, Seen
from app.viewers.tools import Beats, press, second

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.converters, pytest.mark.long]
EXPECTED: dict[str, dict[str, object]] = {
    "cad/plan.dxf": {"layout": "Model", "entities": 6, "layouts": 2, "x": 20, "y": 10, "outliers": False},
    "cad/far.dxf": {"entities": 301, "paths": 301, "x": 10001, "y": 10001, "outliers": True},
    "cad/dense.dxf": {"entities": 20_000, "paths": 20_000, "drawn": 20_000},
    "cad/old.dwg": {"entities": 13, "layouts": 1, "x": 20, "y": 10, "format": "DWG"},
}


def ink(found: Seen) -> int:
    """Pixels of the sheet that are not paper."""
    width, height = found.picture.size
    sheet = found.picture.crop((10, 110, width - 260, height - 60))
    colours = sheet.getcolors(1 << 24) or ()
    return sum(n for n, _ in colours) - max(n for n, _ in colours)


@pytest.mark.quick("cad/plan.dxf")
@pytest.mark.parametrize("path", EXPECTED)
def test_drawing_is_shown(seen: Panes, path: str) -> None:
    found = seen.show(path)
    assert (found.said["kind"], found.said["badge"].split(" (")[0]) == ("cad", "converted")
    facts = EXPECTED[path]
    assert {key: found.report.get(key) for key in facts} == facts, found.report
    assert ink(found) > 500, "the sheet is blank"


def test_hidden_layers_hide_their_entities(seen: Panes) -> None:
    before = seen.show("cad/plan.dxf")
    assert seen.frame.get_by_label("secret").is_disabled()
    seen.frame.get_by_label("furniture").uncheck()
    seen.page.wait_for_timeout(400)
    after = Seen(before.said, seen.look("layers"))
    assert 0 < ink(after) < ink(before)
    blue = [n for n, c in after.pane.getcolors(1 << 24) or () if c == (0, 0, 255)]
    assert not blue, "the circle is still there"


@pytest.mark.thorough(quick="app/viewers/test_drawing_viewer.py::test_hidden_layers_hide_their_entities")
def test_layouts_are_separate_sheets(seen: Panes) -> None:
    before = seen.show("cad/plan.dxf")
    seen.frame.get_by_role("tab", name="Layout1").click()
    seen.frame.get_by_text("100 × 50 m").wait_for()
    seen.page.wait_for_timeout(400)
    assert Seen(before.said, seen.look("layout")).unlike(before) > 0.5


@pytest.mark.thorough(quick="app/viewers/test_drawing_viewer.py::test_drawing_is_shown[cad/plan.dxf]")
def test_far_outliers_do_not_hide_the_plan(seen: Panes) -> None:
    found = seen.show("cad/far.dxf")
    near = ink(found)
    seen.frame.get_by_role("button", name="Fit Home").click()
    seen.page.wait_for_timeout(400)
    assert ink(Seen(found.said, seen.look("far"))) < near / 5
    assert seen.frame.get_by_text("far away from the rest").is_visible()


def test_length_is_measured(seen: Panes) -> None:
    seen.show("cad/plan.dxf")
    frame, mouse = seen.frame, seen.page.mouse
    frame.get_by_role("button", name="Measure").click()
    box = frame.locator("canvas").bounding_box()
    assert box is not None
    # It was fitted: the 20 metres take 94 hundredths of the width.
    left, y = box["x"] + box["width"] * 0.03, box["y"] + box["height"] / 2
    mouse.move(left, y)
    mouse.down()
    mouse.move(left + box["width"] * 0.47, y, steps=4)
    mouse.up()
    said = frame.locator(".facts").text_content() or ""
    length = float(said.split("distance")[1].split("m")[0])
    assert length == pytest.approx(10, rel=0.03)


@pytest.mark.thorough(quick="app/viewers/test_model_viewers.py::test_two_panes_look_from_the_same_side")
def test_two_panes_show_the_same_part(seen: Panes) -> None:
    seen.show("cad/plan.dxf")
    with second(seen) as other:
        before = other.show("cad/plan.dxf")
        press(seen, "canvas", "+", "+", "ArrowRight")
        place = seen.said("state")[-1]["state"]
        assert place["zoom"] > 1
        other.tell(type="sync", state=place)
        other.page.wait_for_timeout(500)
        # The ring around what has the focus is no part of the drawing.
        seen.frame.evaluate("() => document.activeElement.blur()")
        after = Seen(before.said, other.look("drawing-synced"))
        assert after.unlike(before) > 0.5
        assert after.unlike(Seen(before.said, seen.look("drawing-led"))) < 0.5
        assert other.said("state") == []


@pytest.mark.thorough(quick="app/viewers/test_drawing_viewer.py::test_drawing_is_shown[cad/plan.dxf]")
def test_many_lines_keep_the_page_responsive(seen: Panes) -> None:
    with Beats(seen) as beats:
        seen.show("cad/dense.dxf")
        press(seen, "canvas", *["+"] * 6, *["ArrowLeft"] * 4)
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert beats.longest < 0.5 * crowd, (beats.longest, crowd)
