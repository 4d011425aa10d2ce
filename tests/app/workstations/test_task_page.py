"""A task in Chromium: terminal, uploads and downloads, a pause, another browser, hand-in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.round.desks import RunningClock
from app.round.driving import AXE, Watch, chromium, desk_of, enter, serving
from app.workstations.working import REPORT, Workroom
from worksample.records import Submission
from worksample.results.slot_results import slots_df

QUICK = "app/workstations/test_person_alone.py::test_person_does_a_task_and_appears_beside_the_agent"
# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.mark.thorough(quick=QUICK)
def test_task_is_done_in_the_browser(tmp_path: Path) -> None:
    room = Workroom(tmp_path, clock=RunningClock())  # type: ignore[arg-type]
    room.run()
    room.hire("ann", rate=60)
    with chromium() as browser, serving(room.store, room.clock) as served:
        watch = Watch(served.config.host)
        page = enter(desk_of(browser, served, watch), room.people.accounts.one_time_link("ann"))
        page.get_by_role("link", name="Tasks").click()
        page.get_by_role("button", name="Take this task").click()
        expect(page.get_by_text("The time does not run.")).to_be_visible()
        page.get_by_role("button", name="Start").click()
        shell = page.locator("[data-terminal]")
        expect(shell).to_contain_text("$")
        _type(page, "ls /task/input; printf 'draft\\n' > draft.txt")
        expect(shell).to_contain_text("tickets.csv")
        with page.expect_download() as got:
            page.get_by_role("link", name="tickets.csv").click()
        assert Path(got.value.path()).read_bytes().startswith(b"")
        files = page.locator("[data-output]")
        expect(files).to_contain_text("draft.txt")
        _no_barriers(page)
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("The time does not run.")).to_be_visible()
        page.context.close()

        page = enter(desk_of(browser, served, watch, dark=True), room.people.accounts.one_time_link("ann"))
        page.get_by_role("link", name="Tasks").click()
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name=re.compile("Continue|Start")).click()
        expect(page.locator("[data-terminal]")).to_contain_text("draft.txt")
        _type(page, "rm draft.txt; echo gon''e")
        expect(page.locator("[data-terminal]")).to_contain_text("gone")
        report = tmp_path / "report.md"
        report.write_text(REPORT, encoding="utf-8")
        page.get_by_label("Upload files").set_input_files(report)
        expect(page.locator("[data-output]")).to_contain_text("report.md")
        expect(page.locator("[data-output]")).not_to_contain_text("draft.txt")
        _no_barriers(page)
        page.get_by_role("button", name="Hand in", exact=True).click()
        page.get_by_role("button", name="Hand in now").click()
        expect(page.get_by_text("There is no work for you now.")).to_be_visible()
        watch.check()
    assert room.run().status.graded == 2
    found = slots_df(room.store, room.experiment.id)
    assert found.filter(found["agent_name"] == "human")["passed"].to_list() == [True]
    [mine] = [s for s in room.store.find(Submission) if s.author == "ann"]
    cast = room.store.manifest(mine.parts["terminal"].manifest).find("session.cast")
    assert "tickets.csv" in room.store.blobs.read(cast.blob).decode()


def _type(page: Page, line: str) -> None:
    field = page.get_by_label("Terminal. Shift and Tab leave it.")
    field.press_sequentially(line)
    field.press("Enter")


def _no_barriers(page: Page) -> None:
    """What axe finds is none."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' | ')))"
    )
    assert found == []
