"""Sign-in pages: links, invitations, passwords, profile."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.round.desks import Desks
from app.round.driving import enter
from app.web.bench import until

pytestmark = pytest.mark.browser
WORDS = "four words or maybe five"


def test_one_time_link_opens_once_and_leaves_no_trace(place: Desks) -> None:
    place.office.hire("ann")
    token = place.office.people.accounts.one_time_link("ann")
    page = place.stranger()
    enter(page, token)
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    assert token not in page.url
    assert page.evaluate("history.length") <= 2, "the link stays in the history"
    page.reload()
    expect(page.get_by_role("link", name="ann")).to_be_visible()
    place.watch.expected = ("403",)
    other = place.stranger()
    other.goto(f"/link#{token}")
    expect(other.get_by_role("alert")).to_be_visible()
    assert token not in other.url


def test_invitation_creates_an_account_with_password(place: Desks) -> None:
    token = place.office.people.accounts.invite(["evaluator"])
    page = place.stranger()
    page.goto(f"/invite#{token}")
    expect(page.get_by_text("invited as evaluator")).to_be_visible()
    assert token not in page.url
    page.get_by_label("Name").fill("Bea")
    page.get_by_label("Password", exact=True).fill(WORDS)
    page.get_by_label("Password once more").fill(WORDS + "x")
    expect(page.get_by_text("The two differ.")).to_be_visible()
    page.get_by_label("Password once more").fill(WORDS)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    page.get_by_role("banner").get_by_role("button", name="Sign out").click()
    place.watch.expected = ("401", "403")
    page.get_by_label("Name").fill("Bea")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password").fill(WORDS)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("banner").get_by_role("link", name="Bea")).to_be_visible()


@pytest.mark.thorough(quick="app/web/test_admin_pages.py::test_person_is_invited_given_a_role_and_disabled")
def test_invited_admin_lands_at_the_rounds(place: Desks) -> None:
    page = place.stranger()
    page.goto(f"/invite#{place.office.people.accounts.invite(['admin'])}")
    page.get_by_label("Name").fill("Ada")
    for field in page.locator("input[type=password]").all():
        field.fill(WORDS)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rounds", level=1)).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Rounds", level=1)).to_be_visible()


@pytest.mark.thorough(quick="app/web/test_sign_in_pages.py::test_one_time_link_opens_once_and_leaves_no_trace")
def test_requested_address_opens_after_sign_in(place: Desks) -> None:
    account = place.office.people.accounts.accept(place.office.people.accounts.invite(["evaluator"]), "cy", WORDS)
    place.watch.expected = ("401",)
    page = place.stranger()
    page.goto("/history")
    page.get_by_label("Name").fill(account.name)
    page.get_by_label("Password").fill(WORDS)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="History")).to_be_visible()


@pytest.mark.thorough(quick="app/test_sessions.py::test_new_password_ends_other_sessions")
def test_profile_is_saved_and_password_changed(place: Desks) -> None:
    people = place.office.people
    people.accounts.accept(people.accounts.invite(["expert"]), "dan", WORDS)
    page = enter(place.stranger(), people.accounts.one_time_link("dan"))
    page.goto("/profile")
    page.get_by_label("Domains").fill("upwork:design\nupwork:writing")
    page.get_by_label("Skills").fill("logos, kerning")
    page.get_by_label("Rating").fill("6")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("A number from 0 to 5.")).to_be_visible()
    page.get_by_label("Rating").fill("4.9")
    page.get_by_label("Hours").fill("1200")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_label("Skills")).to_have_value("logos, kerning")
    expect(page.get_by_label("Rating")).to_have_value("4.9")
    page.get_by_label("Old password").fill(WORDS)
    page.get_by_label("New password", exact=True).fill(WORDS + " more")
    page.get_by_label("New password once more").fill(WORDS + " more")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("The password is changed.")).to_be_visible()
    assert people.accounts.login("dan", WORDS + " more")
    page.reload()
    expect(page.get_by_role("heading", name="Profile")).to_be_visible()


@pytest.mark.thorough(quick="app/web/test_admin_pages.py::test_reviewer_reads_only_and_evaluator_sees_no_admin_page")
def test_forbidden_pages_have_no_link(place: Desks) -> None:
    page = place.sit("eve")
    names = page.get_by_role("navigation", name="Main").get_by_role("link").all_inner_texts()
    assert names == ["Queues", "Training", "History"]
    page.goto("/admin")
    expect(page.get_by_text("Only admins and reviewers can open this page.")).to_be_visible()


def test_theme_is_remembered(place: Desks) -> None:
    page = place.sit("fay")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "light"
    page.get_by_label("Theme").select_option("dark")
    until(lambda: page.evaluate(theme) == "dark", page=page)
    page.reload()
    page.get_by_label("Theme").wait_for()
    assert page.evaluate(theme) == "dark"
    page.get_by_label("Theme").select_option("system")
    page.emulate_media(color_scheme="dark")
    until(lambda: page.evaluate(theme) == "dark", page=page)
