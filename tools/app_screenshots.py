"""Pictures of the review app for the docs: `python tools/app_screenshots.py`.

Runs the scripted agents on a part of the starter suite, stages people and rounds (tools/app_scene.py), serves the app
on a free port, and writes docs/images/app-*.png. `--only work,rubric` takes some of them; `--store DIR` keeps the run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app_scene import Scene, run, stage
from playwright.sync_api import Browser, Frame, Locator, Page, sync_playwright
from screenshots import BROWSERS, FLAGS, LARGEST, compressed

from worksample.app import AppConfig, create_app
from worksample.app.server.http_server import BoundSocket, listen, serve_in_thread
from worksample.people import People
from worksample.store import Store

SECONDS = 60_000
"""Milliseconds that anything may take: the first conversion of a format is slow."""


@dataclass
class Studio:
    """Takes pictures as one of the scene's people."""

    scene: Scene
    browser: Browser
    served: BoundSocket
    out: Path
    only: frozenset[str]
    taken: list[str] = field(default_factory=list)

    def page(self, who: str = "", *, dark: bool = False, height: int = 800, width: int = 1280) -> Page:
        """A browser of somebody's own, signed in; of nobody where no name is given."""
        context = self.browser.new_context(
            base_url=self.served.config.app_origin, viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light", reduced_motion="reduce", locale="en-GB",
        )  # fmt: skip
        context.set_default_timeout(SECONDS)
        page = context.new_page()
        if who:
            page.goto(f"/link#{People(self.scene.store).accounts.one_time_link(who)}")
            page.get_by_role("banner").get_by_role("button", name="Sign out").wait_for()
        return page

    def take(self, name: str, page: Page) -> None:
        """One picture, small enough for the docs."""
        page.mouse.move(0, 0)
        target = self.out / f"app-{name}.png"
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "shot.png"
            page.screenshot(path=raw)
            data = compressed(raw)
        if len(data) > LARGEST:
            raise SystemExit(f"{target}: {len(data):,} bytes\n  next: a smaller window")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.taken.append(f"{target}  {len(data):,} bytes")

    def wants(self, *names: str) -> bool:
        return not self.only or bool(self.only & set(names))


def until(where: Page | Frame, what: str) -> None:
    """Wait for a condition by asking from outside: the pages' own policies allow no evaluation."""
    for _ in range(SECONDS // 100):
        if where.evaluate(what):
            return
        where.wait_for_timeout(100)
    raise SystemExit(f"{where.url}: never {what}")


def settle(page: Page) -> None:
    """Until nothing is fetched and no message stands on the page."""
    until(page, "!document.querySelector('.spinner, .toast')")
    page.wait_for_timeout(500)


def shown(page: Page) -> None:
    """Until every pane that has a file has it on the screen."""
    for frame in page.frames:
        if frame.url.partition("://")[2].startswith("v."):
            until(frame, "!!document.querySelector('.idle, .stage') && !document.querySelector('.waiting')")
    page.wait_for_timeout(1500)
    settle(page)


def bench(page: Page) -> Locator:
    """The item at hand; the next one waits behind it."""
    return page.locator(".bench:not(.waiting)")


def start(page: Page, round: str) -> None:
    """The work screen of a round, with every pane's file shown."""
    page.goto(f"/work/{round}")
    page.locator("iframe[data-pane]").first.wait_for()
    close_dialogs(page)
    shown(page)


def close_dialogs(page: Page) -> None:
    page.wait_for_timeout(500)
    while page.locator("dialog[open]").count():
        page.keyboard.press("Escape")
        page.wait_for_timeout(200)


def entry(studio: Studio) -> None:
    page = studio.page()
    page.goto("/queues")
    page.get_by_role("button", name="Sign in").wait_for()
    settle(page)
    studio.take("sign-in", page)
    page = studio.page("Eva Moreno")
    page.goto("/queues")
    page.locator("[data-queue]").first.wait_for()
    settle(page)
    studio.take("queues", page)
    page = studio.page("Noa Weiss")
    page.goto("/training")
    page.get_by_role("button", name="Next: ").wait_for()
    settle(page)
    studio.take("training", page)


def work(studio: Studio) -> None:
    """Holistic, in both themes, with the keys and with another layout."""
    for dark in (False, True):
        page = studio.page("Eva Moreno", dark=dark, width=1440, height=900)
        start(page, studio.scene.rounds["eva holistic"])
        if not dark:
            bench(page).locator("[data-ask=score] input[value='2']").check()
            bench(page).locator("[data-ask=justification] textarea").fill("index.html has every section of the deck.")
            bench(page).locator("[data-ask=justification] textarea").blur()
            settle(page)
        studio.take("dark" if dark else "work", page)
        if not dark:
            page.keyboard.press("?")
            page.get_by_role("dialog").wait_for()
            studio.take("keys", page)
            close_dialogs(page)
            page.keyboard.press("l")
            shown(page)
            studio.take("explorer", page)


def pairwise(studio: Studio) -> None:
    page = studio.page("Eva Moreno", width=1440, height=900)
    start(page, studio.scene.rounds["eva models"])
    studio.take("pairwise", page)


def rubric(studio: Studio) -> None:
    page = studio.page("Eva Moreno", width=1440, height=900)
    start(page, studio.scene.rounds["eva rubric"])
    page.keyboard.press("1")
    settle(page)
    studio.take("rubric", page)


def quiz(studio: Studio) -> None:
    """A question answered, and what would have been right."""
    page = studio.page("Eva Moreno")
    start(page, studio.scene.rounds["quiz"])
    bench(page).locator("[data-ask=score] input[value='1']").check()
    bench(page).locator("[data-ask=justification] textarea").fill("The deck's second section is missing.")
    bench(page).get_by_role("button", name="Hand in").click()
    page.get_by_role("dialog").get_by_role("button", name="Next").wait_for()
    until(page, "!document.querySelector('.toast')")
    studio.take("quiz", page)


def admin(studio: Studio) -> None:
    page, votes = studio.page("Ada Lind", height=900), studio.scene.rounds["holistic"]
    paths = {
        "rounds": "",
        "dashboard": f"/rounds/{votes}",
        "verdicts": f"/rounds/{votes}/verdicts",
        "new-round": f"/rounds/new?kind=audit&over={votes}",
        **{name: f"/{name}" for name in ("people", "flags", "import", "formats")},
    }
    for name, path in paths.items():
        page.goto(f"/admin{path}")
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_load_state("networkidle")
        settle(page)
        if name == "verdicts":
            page.get_by_role("button", name="3 votes").nth(1).click()
        elif name == "import":
            rows = ["subject,evaluator,score,justification", "nobody,zoe,2,all is there", ",zoe,1,nothing is there"]
            page.get_by_label("Or paste its rows").fill("\n".join(rows))
            page.get_by_role("button", name="Import").click()
            page.get_by_role("table", name="Faulty rows").scroll_into_view_if_needed()
        studio.take(name, page)


GROUPS: dict[str, Callable[[Studio], Any]] = {
    "entry": entry, "work": work, "pairwise": pairwise, "rubric": rubric, "quiz": quiz, "admin": admin,
}  # fmt: skip


def main() -> None:
    """Read the arguments, stage, serve, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--store", type=Path, help="a folder in which the agents' run is kept, or is found again")
    parser.add_argument("--static", type=Path, default=AppConfig().static, help="the built pages")
    parser.add_argument("--only", default="", help=f"some of {', '.join(GROUPS)}")
    given = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"no browser\n  next: install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory(prefix="worksample-scene-") as folder:
        made = given.store or Path(folder) / "run"
        if not (made / "store").exists():
            made.mkdir(parents=True, exist_ok=True)
            run(made)
        shutil.copytree(made / "store", Path(folder) / "store")
        with Store.open(Path(folder) / "store") as store, sync_playwright() as play:
            scene = stage(store)
            chromium = play.chromium.launch(executable_path=browser, args=[f for f in FLAGS if f != "--headless"])
            listening = listen(AppConfig(port=0, static=given.static))
            with serve_in_thread(create_app(store, listening.config), listening) as served:
                studio = Studio(scene, chromium, served, given.out, frozenset(filter(None, given.only.split(","))))
                for name, group in GROUPS.items():
                    if studio.wants(name):
                        group(studio)
                chromium.close()
    sys.stdout.write("\n".join(studio.taken) + "\n")


if __name__ == "__main__":
    main()
