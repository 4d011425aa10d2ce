"""Drafts survive a crash of the browser, a lost connection and a second window."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.round.desks import Desks
from app.round.driving import Watch, enter
from app.web.bench import dialog, front, given, handed_in, saved, start, until
from forking.child import ended
from worksample.people import RoundKind
from worksample.records import Holistic

pytestmark = [pytest.mark.browser, pytest.mark.long]
BEFORE = "report.txt lacks May"


def why(page: Page) -> str:
    return front(page).get_by_label("Why? Name files", exact=False).input_value()


@pytest.fixture
def watched(place: Desks) -> Watch:
    place.watch.expected = ("ERR_INTERNET_DISCONNECTED", "409")
    return place.watch


def test_draft_survives_a_killed_browser(tmp_path: Path) -> None:
    done = ended("app.web.killed", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["killed", "back", "handed-in"]


def test_lost_connection_loses_no_draft(place: Desks, watched: Watch) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    page.keyboard.press("1")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("w")
    page.keyboard.type(BEFORE)
    expect(page.get_by_text("You are offline.", exact=False)).to_be_visible()
    expect(front(page).get_by_text("kept in this browser", exact=False).first).to_be_visible()
    page.keyboard.press("Control+Enter")
    # Until it is told, handing in may still be under way, and would go through once the line is back.
    expect(front(page).locator(".questions").get_by_text("The server cannot be reached.")).to_be_visible()
    assert given(place) == []
    page.context.set_offline(False)
    saved(page)
    expect(page.get_by_text("You are offline.", exact=False)).to_be_hidden()
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('ws.draft.'))") == []
    page.keyboard.press("Control+Enter")
    handed_in(page)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, Holistic) and evaluation.payload.justification == BEFORE


def test_reloaded_page_continues_the_draft(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    title = page.title()
    page.keyboard.press("3")
    page.keyboard.press("w")
    page.keyboard.type(BEFORE)
    # Not a moment's pause: the page is left before the draft was saved.
    page.reload()
    until(lambda: front(page).count() == 1, page=page)
    assert page.title() == title
    assert why(page) == BEFORE
    expect(front(page).get_by_role("radio").nth(2)).to_be_checked()
    saved(page)


@pytest.mark.thorough(quick="app/web/test_drafts.py::test_reloaded_page_continues_the_draft")
def test_two_windows_ask_which_answer_counts(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    other = page.context.new_page()
    other.goto(page.url)
    until(lambda: front(other).count() == 1, page=other)
    assert other.title() == page.title()
    other.keyboard.press("1")
    other.keyboard.press("w")
    other.keyboard.type("from the other window")
    other.keyboard.press("Escape")
    saved(other)
    place.watch.expected = ("409",)
    page.bring_to_front()
    page.keyboard.press("2")
    asked = dialog(page, "There are two versions of your answer")
    expect(asked.get_by_text("from the other window", exact=True)).to_be_visible()
    expect(asked.get_by_text("Yes: it satisfies the brief as well as the reference")).to_be_visible()
    asked.get_by_role("button", name="Take the other").click()
    assert why(page) == "from the other window"
    expect(front(page).get_by_role("radio").first).to_be_checked()
    page.keyboard.press("3")
    saved(page)
    other.bring_to_front()
    other.keyboard.press("2")
    asked = dialog(other, "There are two versions of your answer")
    asked.get_by_role("button", name="Keep this one").click()
    saved(other)
    other.keyboard.press("Control+Enter")
    handed_in(other)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, Holistic) and evaluation.payload.score == 2
    assert evaluation.minutes is not None and evaluation.minutes < 2
    # The first window learns that the item is in, and goes on.
    page.bring_to_front()
    page.keyboard.press("1")
    expect(page.get_by_text("This item is no longer yours", exact=False)).to_be_visible()


@pytest.mark.thorough(quick="app/web/test_drafts.py::test_lost_connection_loses_no_draft")
def test_expired_session_loses_no_draft(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    page.keyboard.press("1")
    saved(page)
    place.watch.expected = ("401",)
    page.context.clear_cookies()
    page.keyboard.press("w")
    page.keyboard.insert_text(BEFORE)  # at once: what is typed when the session is found to have ended goes nowhere
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    enter(page, place.office.people.accounts.one_time_link("ann"))
    page.get_by_role("button", name="Continue", exact=True).click()
    until(lambda: front(page).count() == 1, page=page)
    assert why(page) == BEFORE
    saved(page)


@pytest.mark.thorough(quick="app/web/test_accessible_pages.py::test_save_state_shows_the_time")
def test_working_time_is_counted_and_the_lease_renewed(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = place.sit("ann")
    page.clock.install()
    start(page)
    # A viewer that shows nothing within a minute gives up; time must not run before it has.
    expect(front(page).locator(".seen")).to_have_count(2, timeout=60_000)
    for minute in range(22):
        page.mouse.move(640, 400 + 3 * minute)  # Within a viewer, which says so to the app.
        page.wait_for_timeout(150)
        place.office.clock.pass_(60)
        page.clock.run_for(60_000)
        page.wait_for_timeout(50)
    expect(page.get_by_text("of 20 min, over", exact=False)).to_be_visible()
    # Nobody does anything for ten minutes: one more minute counts.
    for _ in range(10):
        place.office.clock.pass_(60)
        page.clock.run_for(60_000)
        page.wait_for_timeout(50)
    bob = place.office.hire("bob")
    held = {item.id for _ in range(4) if (item := place.office.people.drafting.claim(bob, ahead=True)) is not None}
    assert held, "others are given items of their own"
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.type(BEFORE)
    page.keyboard.press("Control+Enter")
    until(lambda: given(place), page=page)
    (evaluation,) = given(place)
    assert evaluation.minutes is not None and 20 <= evaluation.minutes <= 23
