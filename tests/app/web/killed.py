"""A person's browser is killed in the middle of a sentence and started again: `python -m app.web.killed FOLDER`.

A process of its own, because Playwright drives one browser in a thread at a time. Says what it came to, in words.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Error, Page, expect, sync_playwright

from app.round.desks import RunningClock
from app.round.driving import FLAGS, enter, serving
from app.web.bench import front, handed_in, saved, start
from app.web.studio import Studio
from running import needs
from worksample.people import RoundKind
from worksample.records import Evaluation, Holistic
from worksample.store import Store

SAVED, UNSAVED = "report.txt lacks May", ", and then the line went down"
FLUSHED = 8
"""Seconds after which Chromium has put a page's storage on the disk."""


def main_process(profile: Path) -> int:
    """The browser with this profile; its helpers name a type."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
            if f"--user-data-dir={profile}".encode() in words and not any(w.startswith(b"--type=") for w in words):
                return int(process.name)
    raise SystemExit("no such browser")


@contextmanager
def browser(profile: Path, origin: str) -> Iterator[Page]:
    with sync_playwright() as play:
        context = play.chromium.launch_persistent_context(
            profile, executable_path=needs.browser(), args=list(FLAGS), base_url=origin,
            viewport={"width": 1280, "height": 800}, locale="en-GB",
        )  # fmt: skip
        yield context.pages[0]
        with suppress(Error):
            context.close()


def write(page: Page, profile: Path) -> None:
    """Half of it is saved; the line goes down; the other half is not; the browser dies."""
    start(page)
    page.keyboard.press("2")
    page.keyboard.press("w")
    page.keyboard.type(SAVED)
    saved(page)
    page.context.set_offline(True)
    page.keyboard.type(UNSAVED)
    time.sleep(FLUSHED)
    os.kill(main_process(profile), signal.SIGKILL)


def main() -> None:
    folder = Path(sys.argv[1])
    profile = folder / "profile"
    office = Studio(Store.open(folder / "s", create=True), agents=2, projects=2, clock=RunningClock())
    office.open(RoundKind.HOLISTIC)
    office.hire("ann")
    with serving(office.store, office.clock) as served:
        origin = served.config.app_origin
        with browser(profile, origin) as page:
            write(enter(page, office.people.accounts.one_time_link("ann")), profile)
        sys.stdout.write("killed ")
        with browser(profile, origin) as page:
            enter(page, office.people.accounts.one_time_link("ann"))
            page.get_by_role("button", name="Continue", exact=True).click()
            expect(front(page).get_by_label("Why? Name files", exact=False)).to_have_value(SAVED + UNSAVED)
            sys.stdout.write("back ")
            saved(page)
            page.keyboard.press("Control+Enter")
            handed_in(page)
    (evaluation,) = office.store.find(Evaluation)
    assert isinstance(evaluation.payload, Holistic)
    assert (evaluation.payload.score, evaluation.payload.justification) == (2, SAVED + UNSAVED)
    sys.stdout.write("handed-in\n")
    office.store.close()


if __name__ == "__main__":
    main()
