"""A newcomer: queues name the missing training, which is read before the first item opens."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.round.desks import Desks
from app.round.driving import enter
from app.web.bench import start
from worksample.people import RoundKind

pytestmark = pytest.mark.browser


@pytest.mark.thorough(quick="app/test_evaluator_api.py::test_training_page_is_required_first")
def test_training_is_read_before_the_first_item(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    people = place.office.people
    people.accounts.accept(people.accounts.invite(["evaluator"]), "new", None)
    page = enter(place.stranger(), people.accounts.one_time_link("new"))
    queue = page.locator("[data-kind=holistic]")
    expect(queue.get_by_text("Read the training page first.")).to_be_visible()
    # Who types the address is told the same.
    address = f"/work/{queue.get_attribute('data-queue')}"
    place.watch.expected = ("425",)
    page.goto(address)
    expect(page.get_by_text("You need to do something first.")).to_be_visible()
    page.get_by_role("link", name="To the queues").click()
    queue.get_by_role("button", name="Read the training").click()
    pages = page.get_by_role("navigation", name="Pages of the training").get_by_role("link")
    expect(pages.first).to_be_visible()
    for _ in range(pages.count() - 1):
        assert not people.has_read_training(people.accounts.all()[0])
        page.get_by_role("button", name="Next:", exact=False).click()
    page.get_by_role("button", name="I have read all pages").click()
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    assert people.has_read_training(people.accounts.all()[0])
    start(page)
