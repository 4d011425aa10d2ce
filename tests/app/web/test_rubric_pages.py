"""Rubrics are written by keyboard and compared; waiting work and disagreements are shown."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.round.desks import Desks
from app.round.driving import axe
from app.web.bench import judged, scrolls
from worksample.people.rubrics.versions import versions

pytestmark = [pytest.mark.browser, pytest.mark.long]


def fits(page: Page, name: str) -> list[str]:
    """At 400 pixels and at 1280: nothing that axe finds serious, nothing wider than its window."""
    found = []
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        found += [f"{name} at {width}: {fault}" for fault in axe(page)]
        if scrolls(page)[0]:
            found.append(f"{name} at {width} is wider than its window by {scrolls(page)[0]}")
    return found


@pytest.mark.quick("False")
@pytest.mark.parametrize("dark", [False, True])
def test_rubric_is_written_by_keyboard_and_versions_are_compared(team: Desks, tmp_path: Path, dark: bool) -> None:
    page = team.sit("eva", "expert", dark=dark)
    page.goto("/rubrics")
    page.get_by_label("Name").fill("report")
    page.get_by_role("button", name="Write it").click()
    page.get_by_label("Criterion 1", exact=True).click()
    page.keyboard.type("Work is of professional quality")
    flagged = page.locator("[data-criterion]").first.get_by_text("subjective")
    expect(flagged).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Criterion 2", exact=True)).to_be_focused()
    page.keyboard.type("Contains the totals of all 12 months")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    expect(page.get_by_label("Criterion 2", exact=True)).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_label("Criterion 1", exact=True)).to_have_value("Contains the totals of all 12 months")
    page.get_by_label("Importance of criterion 1").select_option("critical")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="After version 1")).to_be_visible()

    page.get_by_label("Criterion 2", exact=True).fill("Contains a title above each table")
    expect(flagged).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Say why it is changed.")).to_be_visible()
    page.get_by_label("Why is it changed?").fill("nobody agrees on quality")
    page.get_by_role("button", name="Save version 2").click()
    expect(page.get_by_role("heading", name="After version 2")).to_be_visible()
    changes = page.locator("[data-changes] > li")
    expect(changes).to_have_count(1)
    expect(changes).to_contain_text("Work is of professional quality")
    expect(changes).to_contain_text("Contains a title above each table")
    second, first = versions(team.office.store, "report")
    assert [c.id for c in first.criteria.criteria] == [c.id for c in second.criteria.criteria]
    assert (second.reason, first.criteria.criteria[0].importance) == ("nobody agrees on quality", "critical")

    with page.expect_download() as download:
        page.get_by_role("link", name="criteria.toml").first.click()
    text = Path(download.value.path()).read_text()
    assert [c["text"] for c in tomllib.loads(text)["criterion"]] == [c.text for c in second.criteria.criteria]
    faults = fits(page, "rubric")
    taken = tmp_path / "criteria.toml"
    taken.write_text(text.replace("a title", "a heading"))
    page.get_by_label("Take from a criteria.toml").set_input_files(taken)
    expect(page.get_by_label("Criterion 2", exact=True)).to_have_value("Contains a heading above each table")
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("link", name="All rubrics").click()
    expect(page.get_by_role("link", name="report")).to_be_visible()
    faults += fits(page, "rubrics")
    assert not faults, "\n".join(faults)


@pytest.mark.thorough(quick="app/admin/test_rubrics.py::test_waiting_work_and_disagreements_are_listed")
def test_waiting_work_and_disagreements_link_to_votes(team: Desks) -> None:
    judged(team)
    page = team.sit("ada", "admin", dark=True)
    page.goto("/admin/waiting")
    expect(page.get_by_role("table").get_by_role("link", name="Holistic")).to_be_visible()
    expect(page.get_by_text("median so far")).to_be_visible()
    faults = fits(page, "what waits")
    page.get_by_role("link", name="Disagreements").click()
    expect(page.get_by_text("They disagree on 2")).to_be_visible()
    faults += fits(page, "disagreements")
    parted = page.url
    page.get_by_role("link", name="Open the vote by ann").first.click()
    sought = page.locator("[data-sought]")
    expect(sought).to_be_visible()
    expect(sought).to_contain_text("ann")
    page.goto(parted)
    page.get_by_role("link", name="Open the work and the answer of ann").first.click()
    expect(sought).to_contain_text("ann")
    expect(page.get_by_role("tree", name="Files of Deliverable")).to_be_visible()
    expect(page.locator('iframe[data-pane="Deliverable"]')).to_have_attribute("title", re.compile(r"Deliverable: .+\."))
    expect(page.get_by_text("The steps say who made it")).to_be_visible()
    faults += fits(page, "a submission")
    page.get_by_role("button", name="Show who made it, and how").click()
    expect(page.get_by_text("You have seen who made it and how")).to_be_visible()
    expect(page.get_by_text("maker-").first).to_be_visible()
    assert not faults, "\n".join(faults)
