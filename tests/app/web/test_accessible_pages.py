"""Every page in both themes: no serious violation by axe, no overflow, and many files."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.round.desks import Desks, desks
from app.round.driving import axe
from app.web.bench import dialog, front, judged, saved, scrolls, shows, start
from app.web.studio import Studio
from worksample.people import RoundKind

pytestmark = [pytest.mark.browser, pytest.mark.long]


class Many(Studio):
    """Ten thousand files, a hundred to a folder."""

    files = {f"out/d{n % 100:02}/file {n:05}.txt": b"x" * (n % 50) for n in range(10_000)}


def sound(page: Page, name: str) -> list[str]:
    return [f"{name}: {fault}" for fault in axe(page)]


@pytest.mark.quick("False")
@pytest.mark.parametrize("dark", [False, True])
def test_pages_are_accessible(place: Desks, dark: bool) -> None:
    place.office.open(RoundKind.HOLISTIC)
    stranger = place.stranger(dark=dark)
    place.watch.expected = ("401",)
    stranger.goto("/sign-in")
    stranger.get_by_label("Name").wait_for()
    faults = sound(stranger, "sign in")
    stranger.goto(f"/invite#{place.office.people.accounts.invite(['evaluator'])}")
    stranger.get_by_label("Name").wait_for()
    faults += sound(stranger, "invitation")
    page = place.sit("ann", "evaluator", "reviewer", dark=dark)
    for path, heading in (
        ("/queues", "Queues"), ("/training", "Training"), ("/history", "History"), ("/profile", "Profile"),
    ):  # fmt: skip
        page.goto(path)
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        page.wait_for_timeout(300)
        faults += sound(page, path)
        assert scrolls(page)[0] == 0, f"{path} is wider than its window"
    assert not faults, "\n".join(faults)


@pytest.mark.thorough(
    quick="app/web/test_rubric_pages.py::test_rubric_is_written_by_keyboard_and_versions_are_compared[False]"
)
def test_no_page_is_wider_than_a_phone(team: Desks) -> None:
    round = judged(team)
    page = team.sit("ada", "admin", "evaluator", "expert", "reviewer")
    page.set_viewport_size({"width": 400, "height": 800})
    wide = []
    for path in (
        "/queues", "/profile", "/admin", "/admin/people", "/admin/rounds/new", f"/admin/rounds/{round}",
        f"/admin/rounds/{round}/verdicts", f"/admin/rounds/{round}/more",
    ):  # fmt: skip
        page.goto(path)
        page.locator("main h1").wait_for()
        page.wait_for_load_state("networkidle")
        if over := scrolls(page)[0]:
            wide.append(f"{path}: {over}")
    assert not wide, wide


@pytest.mark.quick("False")
@pytest.mark.parametrize("dark", [False, True])
def test_work_page_is_accessible(place: Desks, dark: bool) -> None:
    for kind in (RoundKind.HOLISTIC, RoundKind.PAIRWISE, RoundKind.RUBRIC, RoundKind.TAGS):
        place.office.open(kind)
    page = place.sit("ann", "evaluator", "expert", dark=dark)
    faults = []
    for kind in (RoundKind.HOLISTIC, RoundKind.PAIRWISE, RoundKind.RUBRIC, RoundKind.TAGS):
        start(page, kind, notes=False)
        dialog(page, "Notes on this item").wait_for()
        faults += sound(page, f"{kind} notes")
        page.keyboard.press("Escape")
        page.locator("[data-tree] [role=treeitem]").first.wait_for()
        if kind is not RoundKind.TAGS:  # One tag is an answer already.
            page.keyboard.press("2")
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(300)
        faults += sound(page, kind)
        assert scrolls(page) == [0, 0], kind
    for key, name in (("?", "Keys"), ("g", "Flag a problem"), ("x", "Skip this item"), ("i", "Instructions")):
        page.keyboard.press(key)
        dialog(page, name).wait_for()
        faults += sound(page, name)
        page.keyboard.press("Escape")
        dialog(page, name).wait_for(state="detached")
    page.keyboard.press("l")
    faults += sound(page, "flip")
    assert not faults, "\n".join(faults)


@pytest.mark.quick("1280-800")
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (768, 1024)])
def test_work_page_fits_its_window(place: Desks, width: int, height: int) -> None:
    place.office.open(RoundKind.PAIRWISE)
    page = place.sit("ann")
    page.set_viewport_size({"width": width, "height": height})
    start(page, RoundKind.PAIRWISE)
    shows(page, "AD-1", "final/report.txt")
    assert scrolls(page) == [0, 0]
    for name in ("Hand in", "Flip"):
        box = front(page).get_by_role("button", name=name).bounding_box()
        assert box is not None and box["y"] + box["height"] <= height, name


@pytest.mark.thorough(quick="app/web/test_accessible_pages.py::test_work_page_fits_its_window[1280-800]")
def test_panels_are_resized_by_keyboard_and_stay_so(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    line = front(page).get_by_role("separator", name="Width of the brief")
    before = int(line.get_attribute("aria-valuenow") or 0)
    line.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert int(line.get_attribute("aria-valuenow") or 0) == before + 16 + 64
    middle = front(page).get_by_role("separator", name="Between Reference and Alternative")
    box = middle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"], box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] - 90, box["y"] + 300, steps=8)
    page.mouse.up()
    moved = front(page).locator("[data-section=Reference]").bounding_box()
    page.reload()
    front(page).locator("[data-tree=Reference] [role=treeitem]").first.wait_for()
    assert int(line.get_attribute("aria-valuenow") or 0) == before + 80
    again = front(page).locator("[data-section=Reference]").bounding_box()
    assert moved is not None and again is not None
    assert abs(moved["width"] - again["width"]) <= 1


@pytest.mark.thorough(quick="app/web/test_work_page.py::test_holistic_item_is_done_by_keyboard")
def test_only_visible_files_of_ten_thousand_are_drawn(chrome: Browser, tmp_path: Path) -> None:
    with desks(chrome, tmp_path, Many, agents=1, projects=1) as place:
        place.office.open(RoundKind.HOLISTIC)
        page = start(place.sit("ann"))
        tree = front(page).locator("[data-tree=Alternative]")
        tree.locator("[role=treeitem]").first.wait_for()
        page.keyboard.press("e")
        page.keyboard.press("/")
        page.keyboard.type("file 0777")
        expect(tree.get_by_text("file 07770.txt")).to_be_visible()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        shows(page, "Alternative", "out/d70/file 07770.txt")
        page.keyboard.press("/")
        page.keyboard.press("Escape")
        for _ in range(20):
            page.keyboard.press("PageDown")
        page.keyboard.press("End")
        expect(tree.get_by_text("d99")).to_be_visible()
        drawn = tree.locator("[role=treeitem]").count()
        assert drawn < 80, f"{drawn} rows are drawn"


def test_first_page_is_small(place: Desks) -> None:
    sizes: list[int] = []
    page = place.stranger()
    place.watch.expected = ("401",)
    page.on(
        "response",
        lambda r: sizes.append(int(r.headers.get("content-length", "0"))) if "/assets/" in r.url else None,
    )
    page.goto("/")
    page.get_by_label("Name").wait_for()
    assert sizes and sum(sizes) < 130_000, sizes


def test_save_state_shows_the_time(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    page.keyboard.press("1")
    saved(page)
    text = front(page).locator("[data-save]").inner_text()
    assert text.startswith("Saved ") and text[6:8].isdigit() and text[8] == ":"
    expect(front(page).get_by_text("0 of 20 min")).to_be_visible()
