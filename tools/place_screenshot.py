"""The picture of a place where a person works, for the docs: `python tools/place_screenshot.py`.

Plans a task of the starter suite for a person, serves the app on a free port, takes the place, works there, and
writes docs/images/app-place.png.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from screenshots import BROWSERS, FLAGS, LARGEST, compressed

from worksample.app import AppConfig, create_app
from worksample.app.server.http_server import listen, serve_in_thread
from worksample.experiments.config import ArmConfig, ExperimentConfig
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.people import People
from worksample.records import Worker
from worksample.store import Store

LINES = (
    "ls -l /task/input",
    "head -3 /task/input/metrics.csv",
    "python3 -c \"import polars as pl; print(pl.read_csv('/task/input/tickets.csv').height, 'tickets')\"",
)
REPORT = b"# Checkout incident\n\nStarted at 14:02, when the release of 13:55 had reached all servers.\n"


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out / "app-place.png"
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store", create=True) as store:
        people = People(store)
        people.accounts.accept(people.accounts.invite(("worker",)), "Ann Keller", None)
        config = ExperimentConfig(
            name="beside", suite="starter", only=("incident-report/checkout",), agents=(),
            arms=(ArmConfig(name="by-hand", worker=Worker.HUMAN),),
        )  # fmt: skip
        commit_plan(store, prepare(config, store.blobs))
        token = people.accounts.one_time_link("Ann Keller")
        with sync_playwright() as play:
            found = next(filter(None, map(shutil.which, BROWSERS)))
            browser = play.chromium.launch(executable_path=found, args=list(FLAGS))
            listening = listen(AppConfig(port=0))
            with serve_in_thread(create_app(store, listening.config), listening):
                page = browser.new_page(base_url=listening.config.app_origin, viewport={"width": 1280, "height": 800})
                page.set_default_timeout(60_000)
                page.goto(f"/link#{token}")
                _work(page, Path(folder))
                raw = Path(folder) / "shot.png"
                page.screenshot(path=raw)
                data = compressed(raw)
                page.get_by_role("button", name="Pause").click()
                page.get_by_text("The time does not run.").wait_for()
            browser.close()
    if len(data) > LARGEST:
        raise SystemExit(f"{out}: {len(data):,} bytes\n  next: a smaller window")
    out.write_bytes(data)
    print(f"{out}  {len(data):,} bytes")


def _work(page: Page, folder: Path) -> None:
    """Take the place, look at what is given, and bring a file up."""
    page.get_by_role("button", name="Take this task").click()
    page.get_by_role("button", name="Start").click()
    field = page.get_by_label("Terminal. Shift and Tab leave it.")
    shown = page.locator("[data-terminal]")
    shown.get_by_text("$").first.wait_for()
    for line in LINES:
        field.press_sequentially(line)
        field.press("Enter")
        page.wait_for_timeout(500)
    shown.get_by_text(" tickets").first.wait_for()
    report = folder / "report.md"
    report.write_bytes(REPORT)
    page.get_by_label("Upload files").set_input_files(report)
    page.locator("[data-output]").get_by_text("report.md").wait_for()
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)


if __name__ == "__main__":
    main()
