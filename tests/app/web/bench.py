"""The work screen, as a test looks at it and acts on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from app.round.desks import Desks
from worksample.people import Account, Item, RoundKind
from worksample.records import Evaluation

WHY = "final/report.txt has every figure of the brief"


def until(look: Callable[[], Any], seconds: float = 300, step: float = 0.05, page: Page | None = None) -> Any:
    """What `look` gives once that is anything."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"nothing within {seconds} seconds"
        if page is None:
            time.sleep(step)
        else:
            page.wait_for_timeout(step * 1000)
    return found


def start(page: Page, kind: RoundKind = RoundKind.HOLISTIC, *, notes: bool = True) -> Page:
    """Open the queue of a kind and wait until its item stands. `notes`: close the popup that comes first."""
    page.goto("/queues")
    page.locator(f"[data-kind={kind}] button").click()
    page.locator("[data-toolbar]").first.wait_for()
    if notes:
        dialog(page, "Notes on this item").wait_for()
        page.keyboard.press("Escape")
        dialog(page, "Notes on this item").wait_for(state="detached")
    return page


def dialog(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=name)


def front(page: Page) -> Locator:
    """The item that is being worked at; another may wait behind it."""
    return page.locator(".bench:not([inert])")


def saved(page: Page) -> None:
    """Wait until the server has all that was written."""
    front(page).locator("[data-save=clean]").get_by_text("Saved").wait_for()


def handed_in(page: Page) -> None:
    """Wait for the message that says so."""
    expect(page.locator(".toasts").get_by_text("Handed in")).to_be_visible()


def shows(page: Page, pane: str, path: str) -> None:
    """Wait until a pane's frame has a file."""
    expect(front(page).locator(f'iframe[data-pane="{pane}"]')).to_have_attribute(
        "title", f"{pane}: {path}", timeout=300_000
    )


def given(desks: Desks) -> list[Evaluation]:
    """What was handed in, oldest first."""
    return sorted(desks.office.store.find(Evaluation), key=lambda e: e.at)


def judged(team: Desks, **rest: Any) -> str:
    """A holistic round of three votes: maker-0 passes with all, maker-1 with ann alone."""
    round = team.office.open(RoundKind.HOLISTIC, **rest)

    def answer(account: Account, item: Item) -> dict[str, Any]:
        good = "maker-0" in team.office.behind(item)[0] or account.name == "ann"
        return {"score": 2 if good else 1, "justification": "report.txt, its first line"}

    team.office.work_off([team.office.hire(name) for name in ("ann", "bob", "cem")], answer, round.id)
    return round.id


def scrolls(page: Page) -> list[int]:
    """By how much the page is larger than the window, across and down."""
    found: list[int] = page.evaluate(
        "(d => [d.scrollWidth - d.clientWidth, d.scrollHeight - d.clientHeight])(document.documentElement)"
    )
    return found
