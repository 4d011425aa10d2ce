"""Hostile briefs, notes, names, titles and votes are shown as text; pages reveal nothing beyond the item."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.round.desks import Desks, desks
from app.web.bench import dialog, front, shows, start
from app.web.studio import EVIL, HOSTILE_NAME, Studio
from people.worlds import RUBRIC
from worksample.people import Gold, RoundKind
from worksample.records import Criteria, ResolutionRule

pytestmark = [pytest.mark.browser, pytest.mark.long]


class Evil(Studio):
    """Criteria mean harm, too."""

    rubric = Criteria(criteria=tuple(c.replaced(text=f"{c.text} {EVIL}") for c in RUBRIC.criteria))


@pytest.fixture
def place(chrome: Browser, tmp_path: Path) -> Desks:  # type: ignore[misc]
    with desks(chrome, tmp_path, Evil) as found:
        yield found


def unharmed(page: Page) -> None:
    assert page.evaluate("window.owned") is None
    assert all(frame.evaluate("window.owned") is None for frame in page.frames)
    assert page.evaluate("document.querySelectorAll('script:not([type=module]), img[src=x]').length") == 0


def test_item_texts_run_no_script(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = place.sit("ann")
    start(page, notes=False)
    expect(dialog(page, "Notes on this item").get_by_text("onerror=", exact=False)).to_be_visible()
    page.keyboard.press("Escape")
    bench = front(page)
    expect(bench.get_by_role("region", name="Text of the brief").get_by_text("<script>", exact=False)).to_be_visible()
    bench.locator("[data-tree=Alternative]").get_by_text(HOSTILE_NAME).click()
    shows(page, "Alternative", HOSTILE_NAME)
    bench.frame_locator("iframe[data-pane=Alternative]").get_by_text("a name that means harm").wait_for()
    unharmed(page)
    assert page.locator("a[href^='javascript:']").count() == 0


@pytest.mark.thorough(quick="app/test_blind_responses.py::test_responses_to_evaluators_never_name_makers[holistic]")
def test_titles_and_addresses_reveal_only_the_item(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    shows(page, "Alternative", "final/report.txt")
    item = page.title().removesuffix(" · Worksample")
    assert item.startswith("Sales report")
    told = page.url + page.title() + "".join(frame.url for frame in page.frames)
    for word in ("maker", "lab/", "model", "x1", "s-"):
        assert word not in told.removeprefix(place.served.config.app_origin), word


def test_votes_and_reasons_run_no_script(place: Desks) -> None:
    office = place.office
    voters = [office.hire(name) for name in ("v1", "v2", "v3")]
    round = office.open(subjects=("s-maker-0.p0",))
    office.work_off(voters, lambda a, _: {"score": 2 if a is voters[0] else 1, "justification": EVIL}, round.id)
    office.open(RoundKind.ADJUDICATION, over=round.id)
    office.open(RoundKind.CALIBRATION, gold=(Gold("s-maker-1.p1", {"score": 1}, EVIL),), roles=("reviewer",))
    page = place.sit("rita", "reviewer")
    for kind, title in ((RoundKind.ADJUDICATION, "What others said before"), (RoundKind.CALIBRATION, "Right")):
        start(page, kind)
        page.keyboard.press("1")
        page.keyboard.press("w")
        page.keyboard.type("no")
        page.keyboard.press("Control+Enter")
        expect(dialog(page, title).get_by_text("onerror=", exact=False).first).to_be_visible()
        unharmed(page)
    page.goto("/history")
    expect(page.get_by_text("onerror=", exact=False).first).to_be_visible()
    unharmed(page)


@pytest.mark.thorough(quick="app/web/test_hostile_texts.py::test_item_texts_run_no_script")
def test_criteria_and_drafts_run_no_script(place: Desks) -> None:
    place.office.open(RoundKind.RUBRIC, overlap=1, rule=ResolutionRule.LATEST)
    page = start(place.sit("ann", "expert"), RoundKind.RUBRIC)
    page.keyboard.press("2")
    page.keyboard.press("r")
    page.keyboard.type(EVIL)
    page.reload()
    dialog(page, "Notes on this item").wait_for(state="detached")
    expect(front(page).locator("[data-criterion=title] textarea")).to_have_value(EVIL)
    expect(front(page).locator("[data-criterion=title]").get_by_text("onerror=", exact=False).first).to_be_visible()
    unharmed(page)
