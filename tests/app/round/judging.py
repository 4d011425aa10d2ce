"""People at work in the browser: they accept an invitation, read, and answer item after item as a plan says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect
from sqlalchemy import select

from worksample.people.judging.item import shown_pair
from worksample.records import Agent, Instance, Submission
from worksample.store import Store
from worksample.store.people_tables import accounts, assignments, items

PASSWORD = "a password of some words"


@dataclass(frozen=True)
class Shown:
    """What an evaluator cannot know: whose work is in the panes, in their order."""

    instance: str
    agents: tuple[str, ...]


Plan = Callable[[Shown], Mapping[str, str | bool]]
"""Question -> the value of a choice, a text, or yes and no."""


def accept(page: Page, link: str, name: str) -> None:
    """Make the account that an invitation is for."""
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password once more").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("banner").get_by_role("button", name="Sign out")).to_be_visible()


def read_training(page: Page) -> None:
    """Page by page to the last one, and say so."""
    page.goto("/training")
    done = page.get_by_role("button", name="I have read all pages")
    forth = page.get_by_role("button", name=re.compile("^Next: "))
    while not done.or_(forth).first.is_visible() or forth.is_visible():
        if forth.is_visible():
            heading = page.locator("article").inner_text()
            forth.click()
            expect(page.locator("article")).not_to_have_text(heading)
    done.click()
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()


def behind(store: Store, item: str, name: str) -> Shown:
    """Whose work an item shows to somebody."""
    with store.database.reading() as connection:
        row = connection.execute(select(items).where(items.c.id == item)).one()
        account = connection.execute(select(accounts.c.id).where(accounts.c.name == name)).scalar_one()
        mine = (assignments.c.item == item) & (assignments.c.account == account)
        flipped = connection.execute(select(assignments.c.flipped).where(mine)).scalar_one()
    agents = []
    for id in shown_pair(row, flipped):
        if id is not None:
            agents.append(store.get(Agent, store.get(Submission, id).entrant).name)
    return Shown(store.get(Instance, row.instance).key, tuple(agents))


def bench(page: Page) -> Locator:
    """The screen of the item at hand; the next one waits behind it."""
    return page.locator(".bench:not(.waiting)")


def work_off(store: Store, page: Page, name: str, round: str, plan: Plan, most: int | None = None) -> int:
    """Take a round's items until nothing is left, or so many; returns how many were handed in."""
    page.goto("/queues")
    page.locator(f"[data-queue='{round}']").get_by_role("button").click()
    # Notes open over an item that has some: read, and closed.
    page.add_locator_handler(page.get_by_role("dialog"), lambda dialog: dialog.get_by_label("Close").click())
    nothing = page.get_by_role("main").get_by_text("Nothing is left here for you.")
    count = 0
    while True:
        bench(page).or_(nothing).first.wait_for()
        if nothing.is_visible() or count == most:
            page.remove_locator_handler(page.get_by_role("dialog"))
            return count
        item = page.evaluate(
            "fetch('/api/v1/history').then(r => r.json()).then(all => all.filter(i => i.state === 'leased')"
            ".sort((a, b) => a.started - b.started)[0].item)"
        )
        answer(bench(page), plan(behind(store, item, name)))
        hand_in(page)
        count += 1


def answer(screen: Locator, said: Mapping[str, str | bool]) -> None:
    """Type an answer into the questions."""
    for name, value in said.items():
        ask = screen.locator(f"[data-ask='{name}']")
        if isinstance(value, bool):
            ask.get_by_label("Yes" if value else "No").check()
        elif ask.locator("textarea").count():
            ask.locator("textarea").fill(value)
        else:
            ask.locator(f"input[value='{value}']").check()


def hand_in(page: Page) -> None:
    """Hand the answer in, and wait until its screen has gone. What others said before is shown and left."""
    old = bench(page).element_handle()
    with page.expect_response(lambda r: r.url.endswith("/submit")) as told:
        bench(page).get_by_role("button", name="Hand in").click()
    assert told.value.status == 200, told.value.text()
    for _ in range(150):
        if not old.evaluate("screen => screen.isConnected && !screen.classList.contains('waiting')"):
            return
        if page.get_by_role("dialog").is_visible():
            page.keyboard.press("Escape")
        page.wait_for_timeout(50)
    raise AssertionError("the screen of what was handed in stayed")
