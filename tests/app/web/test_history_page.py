"""The history page: answers are read again, and skipped items are taken back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.round.desks import Desks
from app.web.bench import WHY, dialog, front, given, handed_in, start
from worksample.people import RoundKind, all_flags, close_flag
from worksample.records import EvaluationOutcome

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.mark.thorough(quick="app/test_evaluator_api.py::test_skipped_item_is_taken_back_and_own_answer_is_read")
def test_item_is_skipped_and_another_flagged(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    page.keyboard.press("g")
    dialog(page, "Flag a problem").get_by_label("What is wrong").select_option("blinding leak")
    dialog(page, "Flag a problem").get_by_label("Details").fill("its name is on page 2")
    dialog(page, "Flag a problem").get_by_role("button", name="Flag it").click()
    expect(page.get_by_text("the item stays with you", exact=False)).to_be_visible()
    page.keyboard.press("x")
    dialog(page, "Skip this item").get_by_label("Why").fill("I know who made it")
    dialog(page, "Skip this item").get_by_role("button", name="Skip it").click()
    expect(page.locator(".toasts").get_by_text("Skipped")).to_be_visible()
    (declined,) = given(place)
    assert (declined.outcome, declined.reason) == (EvaluationOutcome.DECLINED, "I know who made it")
    (flag,) = all_flags(place.office.people.store)
    assert (flag.kind, flag.text) == ("blinding leak", "its name is on page 2")
    # It can be had back, and what was said of it is read where it was skipped, and where it is answered.
    page.goto("/history")
    flagged = page.get_by_role("row").filter(has_text="its name is on page 2")
    expect(flagged.get_by_text("Not answered yet")).to_be_visible()
    close_flag(
        place.office.people.store,
        place.office.hire("dana", "admin"),
        flag.id,
        "the page is out",
        clock=place.office.people.clock,
    )
    page.reload()
    expect(flagged.get_by_text("Answered: the page is out")).to_be_visible()
    skipped = page.get_by_role("row").filter(has_text="Skipped")
    skipped.locator("td button").first.click()
    expect(page.get_by_role("dialog").get_by_text("I know who made it")).to_be_visible()
    page.keyboard.press("Escape")
    skipped.get_by_role("button", name="Take it back").click()
    front(page).locator("[data-ask=score]").wait_for()
    assert declined.record["item"] in page.url
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.type(WHY)
    page.keyboard.press("Control+Enter")
    handed_in(page)
    assert [one.record["item"] for one in given(place)] == [declined.record["item"]] * 2
    page.goto("/history")
    page.get_by_role("row").filter(has_text="Handed in").locator("td button").first.click()
    expect(page.get_by_role("dialog").get_by_text(WHY)).to_be_visible()
