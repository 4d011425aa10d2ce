"""Actions of people in the viewers: find, scroll, select, copy, query, and keys that the app handles."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from app.round.driving import COLOURS, axe
from app.viewers.showing import Panes
from running.profiles import is_quick_run

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.converters, pytest.mark.long]


def told(seen: Panes, kind: str) -> dict[str, Any]:
    """The last message of a kind, once there is one."""
    found: dict[str, Any] = seen.until("k => window.told.filter(m => m.type === k).at(-1)", kind)
    return found


def test_text_is_searched(seen: Panes) -> None:
    seen.show("text/run.py")
    seen.tell(type="find")
    frame = seen.frame
    expect(frame.get_by_role("searchbox")).to_be_focused()
    frame.get_by_role("searchbox").fill("PRICES")
    expect(frame.locator(".find")).to_contain_text("1 of 3")
    frame.get_by_role("searchbox").press("Enter")
    expect(frame.locator(".find")).to_contain_text("2 of 3")
    assert frame.locator(".now").inner_text() == "prices"


def test_table_scrolls_to_its_end_and_copies_cells(seen: Panes) -> None:
    seen.show("table/prices.csv")
    frame = seen.frame
    frame.get_by_role("gridcell", name="pear 1", exact=True).click()
    frame.get_by_role("grid").press("Shift+ArrowDown")
    frame.get_by_role("grid").press("Shift+ArrowRight")
    copied = frame.evaluate(
        "() => { const d = new DataTransfer(); const e = new ClipboardEvent('copy', {clipboardData: d, bubbles: true});"
        " document.body.dispatchEvent(e); return d.getData('text/plain') }"
    )
    assert copied == "pear 1\t1.5\npear 2\t3.0"
    frame.get_by_role("grid").press("Control+ArrowDown")
    expect(frame.get_by_role("gridcell", name="pear 2000")).to_be_visible()
    frame.get_by_role("searchbox").fill("pear 777")
    expect(frame.get_by_role("gridcell", name="pear 777")).to_be_visible()


def test_workbook_shows_formulas_sheets_and_print(seen: Panes) -> None:
    seen.show("table/sums.xlsx")
    frame = seen.frame
    expect(frame.get_by_role("gridcell", name="3", exact=True)).to_be_visible()
    frame.get_by_role("button", name="1 formula").click()
    expect(frame.get_by_role("gridcell", name="=A1+B1")).to_be_visible()
    frame.get_by_role("tab", name="Second").click()
    expect(frame.get_by_role("gridcell", name="other")).to_be_visible()
    frame.get_by_role("tab", name="As printed").click()
    expect(frame.get_by_text("of 2")).to_be_visible()
    expect(frame.locator("canvas").first).to_be_visible()


def test_database_is_queried(seen: Panes) -> None:
    seen.show("table/stock.db")
    frame = seen.frame
    frame.get_by_role("tab", name="Query").click()
    box = frame.get_by_role("textbox", name="One SELECT")
    box.fill("SELECT sum(n) AS total FROM stock")
    box.press("Control+Enter")
    expect(frame.get_by_role("gridcell", name="11")).to_be_visible(timeout=60_000)
    expect(frame.get_by_role("columnheader", name="total")).to_be_visible()
    box.fill("DELETE FROM stock")
    frame.get_by_role("button", name="Run").click()
    expect(frame.get_by_role("alert")).to_contain_text("readonly", timeout=60_000)


def test_pdf_is_searched_rotated_and_paged(seen: Panes) -> None:
    seen.show("text/report.pdf")
    frame = seen.frame
    frame.get_by_role("searchbox").fill("page 3")
    expect(frame.locator(".find")).to_contain_text("1 of 1")
    expect(frame.get_by_role("spinbutton")).to_have_value("3")
    frame.get_by_role("button", name="Page", exact=True).click()
    frame.get_by_role("button", name="Turn").click()
    width, height = frame.get_by_role("group", name="Page 3").evaluate("e => [e.clientWidth, e.clientHeight]")
    assert width > height
    state = told(seen, "state")["state"]
    assert state["kind"] == "pdf"
    assert 1 < state["page"] < 3


def test_panes_follow_each_other(seen: Panes) -> None:
    seen.show("text/report.pdf")
    seen.tell(type="sync", state={"kind": "pdf", "page": 1, "zoom": 1})
    expect(seen.frame.get_by_role("spinbutton")).to_have_value("2")
    expect(seen.frame.locator(".zoom")).to_have_text("100 %")
    seen.show("table/prices.csv")
    seen.tell(type="sync", state={"kind": "table", "scroll": 1})
    expect(seen.frame.get_by_role("gridcell", name="pear 2000")).to_be_visible()


def test_file_in_nested_archives_is_opened(seen: Panes) -> None:
    seen.show("more/all.zip")
    seen.frame.get_by_role("treeitem", name="notes.txt").click()
    assert told(seen, "open")["path"] == ["more/all.zip", "in/notes.txt"]
    found = seen.show("more/all.zip", "in/notes.txt")
    assert (found.said["kind"], found.report["characters"]) == ("text", len("hello from inside"))
    assert seen.show("more/all.zip", "in/deep.zip", "x.txt").report["lines"] == 1


def test_site_runs_and_shows_its_source(seen: Panes) -> None:
    seen.show("site/index.html")
    expect(seen.inner().get_by_text("Scripts run: 42")).to_be_visible()
    # What frames around it forbid is forbidden to it too.
    seen.inner().get_by_role("button", name="Order").click()
    expect(seen.inner().get_by_text("Ordered")).to_be_visible()
    seen.frame.get_by_role("tab", name="Source").click()
    expect(seen.frame.get_by_text("<title>Shop</title>")).to_be_visible()


def test_blocked_requests_of_a_site_are_counted(seen: Panes) -> None:
    seen.watch.expected += ("violates the following Content Security Policy",)
    seen.show("far/index.html")
    expect(seen.frame.get_by_text("1 external address blocked")).to_be_visible()
    # It was asked for and never sent.
    assert seen.watch.faults == ["a request to http://cdn.example/x.png"]
    seen.watch.faults.clear()
    # What was blocked for one file is not said of the next.
    with seen.page.expect_response(lambda r: "/.worksample/blocked" in r.url and r.request.method == "GET"):
        seen.show("site/index.html")
    expect(seen.frame.get_by_text("blocked", exact=False)).to_have_count(0)


def test_notebook_outputs_run_isolated_and_formulas_are_rendered(seen: Panes) -> None:
    seen.show("text/book.ipynb")
    frame = seen.frame
    expect(frame.locator(".katex")).to_have_count(2)
    expect(frame.locator("pre.error")).to_have_text("divided")
    expect(seen.inner().get_by_text("ran")).to_be_visible()
    assert seen.inner().evaluate("origin") == "null"


def test_markup_shows_pictures_of_the_folder_and_its_source(seen: Panes) -> None:
    seen.show("text/read.md")
    assert seen.inner().locator("img").evaluate("i => i.naturalWidth") == 320
    seen.frame.get_by_role("tab", name="Source").click()
    expect(seen.frame.get_by_text("A *short* text")).to_be_visible()


def test_unused_keys_go_to_the_app(seen: Panes) -> None:
    seen.show("text/run.py")
    region = seen.frame.get_by_role("region", name="Text")
    region.press("j")
    assert told(seen, "key") | {"key": "j", "code": "KeyJ", "ctrl": False} == told(seen, "key")
    region.press("PageDown")
    seen.frame.get_by_role("searchbox").press("k")
    assert [m["key"] for m in seen.said("key")] == ["j"]


def test_missing_file_becomes_a_card(seen: Panes) -> None:
    seen.watch.expected += ("404",)
    found = seen.show("gone.txt")
    assert (found.said["kind"], found.said["inspectable"]) == ("card", False)
    expect(seen.frame.get_by_role("alert")).to_be_visible()


def test_another_file_ends_the_previous_one(seen: Panes) -> None:
    message = {"type": "show", "content": seen.content, "theme": "light", "pane": "AD-1"}
    for path in ("office/report.docx", "text/report.pdf", "table/sums.xlsx"):
        seen.tell(**message, path=[path])
    found = seen.show("text/run.py")
    seen.page.wait_for_timeout(800)
    assert [m["path"] for m in seen.said("shown")] == [["text/run.py"]]
    assert found.said["kind"] == seen.frame.get_by_role("main").get_attribute("data-kind")


def test_messages_of_strangers_are_ignored(seen: Panes) -> None:
    seen.show("text/run.py")
    for content in ("http://evil.example", "http://c.ws.localhost", seen.viewer):
        seen.tell(type="show", content=content, path=["image/a.png"], theme="light", pane="AD-1")
    # From a frame of its own, as a hostile page within it would.
    seen.frame.evaluate("c => postMessage({ws: 1, type: 'show', content: c, path: ['image/a.png']}, '*')", seen.content)
    seen.page.wait_for_timeout(300)
    assert seen.said("shown") == []
    assert seen.frame.get_by_role("main").get_attribute("data-kind") == "text"


def test_theme_changes_in_place(seen: Panes) -> None:
    seen.show("table/prices.csv")
    seen.tell(type="theme", theme="dark")
    expect(seen.frame.locator("html")).to_have_attribute("data-theme", "dark")
    assert seen.look("theme-dark").getpixel((600, 400)) < (80, 80, 80)


def test_axe_finds_no_serious_violation(seen: Panes) -> None:
    kinds = ("text/run.py", "text/report.pdf", "text/book.ipynb", "table/sums.xlsx", "table/stock.db", "image/e.psd")
    found = {}
    every = (*kinds, "more/deck.apkg", "more/all.zip", "more/odd.xyz", "site/index.html")
    for path in every[::3] if is_quick_run() else every:
        seen.show(path)
        found[path] = axe(seen.frame)
        seen.tell(type="theme", theme="dark")
        expect(seen.frame.locator("html")).to_have_attribute("data-theme", "dark")
        found[path, "dark"] = axe(seen.frame, *COLOURS)
    assert not any(found.values()), found


def test_following_pane_does_not_lead(seen: Panes) -> None:
    seen.show("text/report.pdf")
    seen.tell(type="sync", state={"kind": "pdf", "page": 1.5, "zoom": 0.9})
    expect(seen.frame.locator(".zoom")).to_have_text("90 %")
    seen.page.wait_for_timeout(700)
    assert seen.said("state") == []
    seen.frame.get_by_role("region", name="Pages").evaluate("e => e.scrollTop += 200")
    assert told(seen, "state")["state"]["page"] > 1.5
