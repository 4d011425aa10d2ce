"""A task package that only people grade, from `task new` to the report."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.round.driving import PATIENCE, Watch, chromium
from cli.run_cli import argv_of, clean_environment, cli, cli_json

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.long(seconds=60)]
STORE = ("--store", "s")


@contextmanager
def reviewing(folder: Path, name: str, *words: str) -> Iterator[dict[str, Any]]:
    """`worksample review` until the block ends: what it said when it was ready."""
    command = argv_of("review", "--experiment", name, "--port", "0", *words, *STORE, "--json")
    with subprocess.Popen(command, cwd=folder, env=clean_environment(), stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            text = ""
            for line in running.stdout:
                text += line
                if line.startswith("}"):
                    break
            yield json.loads(text)
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(60)


def judge(page: Page, link: str, protocol: str) -> None:
    """Through the link to the queue's first item; answer what is there until nothing is left."""
    page.goto(link)
    # Notes open by themselves with the first item of a round.
    page.get_by_role("dialog", name="Notes on this item").wait_for()
    page.keyboard.press("Escape")
    front = page.locator(".bench:not([inert])")
    for left in (1, 0):
        front.locator("[data-tree] [role=treeitem]").first.wait_for()
        title = "March" if "March" in front.locator("[data-toolbar]").inner_text() else "April"
        if protocol == "holistic":
            page.keyboard.press("2")
            page.keyboard.press("w")
            page.keyboard.type("totals.csv is right to the cent")
            page.keyboard.press("Escape")
        else:
            for n in range(5):
                page.keyboard.press("1")
                expect(front.get_by_text(f"{n + 1} of 5 marked")).to_be_visible()
        page.keyboard.press("Control+Enter")
        if left:
            other = "April" if title == "March" else "March"
            expect(front.locator("[data-toolbar]")).to_contain_text(other)
    page.get_by_text("Nothing is left here for you.").wait_for()


@pytest.mark.thorough(
    quick="app/round/test_rli_round_by_api.py::test_rli_round_through_the_api_with_a_tour_in_the_browser"
)
@pytest.mark.parametrize("protocol", ["holistic", "rubric"])
def test_package_graded_by_people_alone_is_reported(tmp_path: Path, protocol: str) -> None:
    name = f"{protocol}-scripted"
    cli_json("task", "new", protocol, "--protocol", protocol, cwd=tmp_path)
    [report] = cli_json("task", "check", protocol, cwd=tmp_path)
    assert report["findings"] == []
    words = ("--task", protocol, "--agent", "scripted", "--script", f"{protocol}/scripts/good", *STORE)
    assert cli_json("run", *words, cwd=tmp_path)["waits_for_people"] == 2
    if protocol == "holistic":
        # Its own round wants three votes of three people, which nobody can give alone.
        with reviewing(tmp_path, name) as said:
            assert (said["left"], said["votes"]) == (2, 3)
    with chromium() as browser, reviewing(tmp_path, name, "--alone") as said:
        assert (said["left"], said["votes"]) == (2, 1)
        context = browser.new_context(locale="en-GB")
        context.set_default_timeout(PATIENCE)
        watch = Watch("ws.localhost")
        watch.on(context)
        judge(context.new_page(), said["link"], protocol)
        watch.check()
    [row] = [r for r in cli_json("list", *STORE, cwd=tmp_path) if r["name"] == name]
    assert row["graded"] == 2
    assert cli("resume", name, *STORE, cwd=tmp_path).returncode == 0
    [line] = cli_json("report", name, *STORE, "--out", "report", cwd=tmp_path)["rows"]
    assert (line["valid"], line["passed"]["value"]) == (2, 1)
    assert (tmp_path / "report" / "index.html").is_file()
