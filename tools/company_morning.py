"""A morning in a company's browser, with pictures for the docs: `python tools/company_morning.py [--out docs/images]`.

Starts Quaymark's services, signs in as its newcomer Jules, and works by pages alone: writes in the chat, takes an issue
in the tracker, changes a file, opens a merge request, which a colleague reviews, approves and merges, uploads a file,
and makes an appointment. Each step looks at what it caused; a step that caused nothing fails.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, FilePayload, Page, expect, sync_playwright
from screenshots import BROWSERS, FLAGS, compressed

from worksample.workplace.company_reader import read_company
from worksample.workplace.running_workplaces import send_command, start, stop

COMPANY = Path(__file__).parent.parent / "src/worksample/suites/quaymark/company"
SERVICES = ("chat", "tracker", "files", "git", "calendar")
NAME = "morning"
SECONDS = 30_000
"""Milliseconds that a step may take."""


@dataclass
class Morning:
    """A person's browser in the company. `at` has the address of each service."""

    browser: Browser
    at: dict[str, str]
    passwords: dict[str, str]
    out: Path

    def page(self) -> Page:
        """Return a page in a browser of a person's own."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
        context.set_default_timeout(SECONDS)
        return context.new_page()

    def take(self, name: str, page: Page) -> None:
        """Take one picture, small enough for the docs."""
        page.mouse.move(0, 0)
        page.wait_for_timeout(600)
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "shot.png"
            page.screenshot(path=raw)
            self.out.mkdir(parents=True, exist_ok=True)
            target = self.out / f"company-{name}.png"
            target.write_bytes(compressed(raw))
        print(f"{target}: {page.url}")

    def chat(self, page: Page, who: str) -> None:
        """Read a room and answer in it."""
        page.goto(self.at["chat"])
        page.get_by_label("XMPP Address").fill(who)
        page.get_by_label("Password").fill(self.passwords[who])
        page.get_by_role("button", name="Log in").click()
        page.locator("converse-rooms-list").get_by_text("general", exact=True).click()
        expect(page.locator(".chat-msg:visible").first).to_be_visible()
        text = "Good morning! I am Jules 👋 Where do I find the handbook?"
        box = page.locator(".chat-textarea:visible").last
        box.fill(text)
        box.press("Enter")
        expect(page.get_by_text("Where do I find the handbook?").last).to_be_visible()
        self.take("chat", page)

    def tracker(self, page: Page, who: str) -> None:
        """Take an issue and write a note."""
        page.goto(f"{self.at['tracker']}login")
        page.get_by_label("Login").fill(who)
        page.get_by_label("Password").fill(self.passwords[who])
        page.get_by_role("button", name="Login").click()
        page.get_by_role("link", name="Customers with a contract pay too much surcharge").first.click()
        page.get_by_role("link", name="Edit").first.click()
        page.locator("#issue_status_id").select_option(label="In Progress")
        page.locator("#issue_notes").fill("I am looking at `tariff` and ask finance how it is rounded.")
        page.locator("#issue-form input[type=submit][name=commit]").click()
        expect(page.get_by_text("Successful update.")).to_be_visible()
        self.take("issue", page)

    def sign_in(self, page: Page, who: str) -> None:
        """Sign in to the repositories' pages."""
        page.goto(self.at["git"])
        page.get_by_label("Username or primary email").fill(who)
        page.get_by_label("Password").fill(self.passwords[who])
        page.get_by_role("button", name="Sign in").click()

    def merge_request(self, page: Page, who: str) -> None:
        """Change a file on a new branch and ask for a review."""
        self.sign_in(page, who)
        page.get_by_role("link", name="tariff").click()
        self.take("code", page)
        page.get_by_role("link", name="README.md").click()
        page.get_by_role("link", name="Edit").click()
        text = page.get_by_label("Content")
        text.fill(text.input_value() + "\nAmounts are in euro, rounded at the end.\n")
        page.get_by_label("Commit message").fill("Say where amounts are rounded")
        page.get_by_label("Branch").fill("docs/rounding")
        page.get_by_role("button", name="Commit changes").click()
        page.get_by_role("link", name="Branches").click()
        page.get_by_role("link", name="New merge request").first.click()
        page.get_by_label("Description").fill("From the issue about the surcharge. **Please** check the wording.")
        page.get_by_label("Reviewer").select_option(label="Lena Fischer")
        page.get_by_role("button", name="Create merge request").click()
        expect(page.get_by_text("Ready to be merged.")).to_be_visible()
        self.take("merge-request", page)

    def review(self, page: Page, who: str, address: str) -> None:
        """Comment on a line, approve and merge."""
        self.sign_in(page, who)
        page.goto(f"{address}/diffs")
        page.get_by_role("link", name=re.compile("Comment on README.md line")).last.click()
        page.get_by_label("Comment on this line").fill("Half a cent is rounded up; fine as it is.")
        page.get_by_role("button", name="Comment").click()
        self.take("review", page)
        page.get_by_role("link", name="Overview").click()
        page.get_by_role("button", name="Approve").click()
        page.get_by_role("link", name="Checks").click()
        expect(page.get_by_text("By Lena Fischer.")).to_be_visible()
        self.take("checks", page)
        page.get_by_role("link", name="Overview").click()
        page.get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_text("Merged by Lena Fischer")).to_be_visible()
        self.take("merged", page)

    def upload(self, page: Page, who: str) -> None:
        """Upload a document."""
        page.goto(f"{self.at['files']}?h")
        page.get_by_placeholder("username").fill(who)
        page.get_by_placeholder("password").fill(self.passwords[who])
        page.get_by_role("button", name="login").click()
        page.goto(f"{self.at['files']}office/")
        page.locator('#ops a[data-dest="up2k"]').click()
        notes = FilePayload(name="first-day.md", mimeType="text/markdown", buffer=b"# First day\n\nWho knows what\n")
        page.locator("#file1").set_input_files(notes)
        page.locator("#modal-ok").click()
        expect(page.get_by_text("File uploaded successfully")).to_be_visible()
        page.goto(f"{self.at['files']}office/")
        expect(page.get_by_role("link", name="first-day.md").first).to_be_visible()
        self.take("files", page)

    def calendar(self, page: Page, who: str) -> None:
        """Make an appointment beside a colleague's."""
        page.goto(self.at["calendar"])
        page.get_by_label("Account").fill(who)
        page.get_by_label("Password").fill(self.passwords[who])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Petra Novak").check()
        page.get_by_role("button", name="New event").click()
        page.get_by_label("Title").fill("Coffee with Petra")
        page.get_by_label("Begins").fill("2026-03-17T10:00")
        page.get_by_label("Ends").fill("2026-03-17T10:30")
        page.get_by_label("Guests").select_option("petra")
        self.take("event", page)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Coffee with Petra")).to_be_visible()
        self.take("calendar", page)


@contextmanager
def company() -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Run the company's services; yield their addresses and everybody's passwords."""
    addresses = start(COMPANY, SERVICES, NAME)["addresses"]
    try:
        yield addresses, send_command(NAME, "accounts")["accounts"]
    finally:
        stop(NAME)


def main() -> None:
    """Spend the morning."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    print(f"{read_company(COMPANY).name}: starting its services ...")
    binary = next(filter(None, map(shutil.which, BROWSERS)))
    with company() as (at, passwords), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=binary, args=list(FLAGS))
        one = Morning(browser, at, passwords, given.out)
        jules, lena = one.page(), one.page()
        one.chat(jules, "jules")
        one.tracker(jules, "jules")
        one.merge_request(jules, "jules")
        one.review(lena, "lena", jules.url)
        one.upload(jules, "jules")
        one.calendar(jules, "jules")
        browser.close()


if __name__ == "__main__":
    main()
