"""Damaged, locked, huge, endless or misnamed files: each shows a reason, and the app keeps working."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, expect

from app.viewers.samples_documents import drawn, pdf
from app.viewers.showing import Panes, panes
from app.viewers.stock import Stock
from viewing import material
from worksample.app.server.http_server import BoundSocket

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.converters, pytest.mark.long]
CSV = 500 << 20


def vast() -> bytes:
    """A hundred megapixels."""
    image = Image.new("L", (10_000, 10_000), 255)
    ImageDraw.Draw(image).ellipse((1_000, 1_000, 9_000, 9_000), fill=90)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def vast_table() -> bytes:
    """As many rows as are shown, and long ones after them: rows are what its converter's time goes by."""
    rows = "".join(f"{n},pear {n},{n / 3:.6f}\n" for n in range(100_000))
    table = ("id,name,price\n" + rows).encode()
    long = b"0,%s,0.5\n" % (b"pear; " * 100_000)
    return table + long * ((CSV - len(table)) // len(long) + 1)


def files(scratch: Path) -> dict[str, bytes | str]:
    return {
        "cut.pdf": pdf(3)[:900],
        "locked.pdf": material.locked_pdf(),
        "locked.xlsx": material.compound({"EncryptionInfo": b"\4\0\4\0", "EncryptedPackage": b"x" * 5_000}),
        "huge.csv": vast_table(),
        "sheets.xlsx": material.workbook(**{f"Sheet {n}": [[n, "x"]] for n in range(1, 201)}),
        "long.pdf": pdf(20_000),
        "vast.png": vast(),
        "wide.csv": "\n".join(",".join(f"{row}c{n}" for n in range(16_384)) for row in (1, 2)),
        "line.txt": "x" * 3_000_000,
        "lines.txt": "\n" * 2_000_000,
        "loop/index.html": "<!doctype html><title>Loop</title><h1>Loop</h1><script>for(;;);</script>",
        "evil.md": "# <img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) ![p](http://evil.example/p.png)\n",
        "evil.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="alert(1)">'
        '<rect width="20" height="30" fill="red"/><script>top.location="http://evil.example"</script></svg>',
        "report.docx": pdf(1),
        "table.csv": drawn("PNG"),
        "picture.png": "just text, three words\n" * 5,
        "film.pdf": b"MZ" + bytes(4_000),
    }


@pytest.fixture(scope="module")
def bad(browser: Browser, served: BoundSocket, stock: Stock) -> Iterator[Panes]:
    with panes(browser, served.config, stock.folder("bad", files, together=False)) as found:
        yield found


@pytest.fixture
def seen(bad: Panes) -> Iterator[Panes]:
    yield from bad.watched()


@pytest.mark.quick("cut.pdf-damaged", "locked.xlsx-protected by a password", "film.pdf-no viewer knows this format")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("cut.pdf", "damaged"),
        ("locked.pdf", "protected by a password"),
        ("locked.xlsx", "protected by a password"),
        ("film.pdf", "no viewer knows this format"),
    ],
)
def test_unshowable_file_is_a_card_with_its_reason(seen: Panes, path: str, says: str) -> None:
    found = seen.show(path)
    assert (found.said["kind"], found.said["inspectable"]) == ("card", False)
    assert says in found.said["problem"]
    expect(seen.frame.get_by_role("alert")).to_contain_text(says)
    expect(seen.frame.get_by_role("link", name="Download original").first).to_be_visible()


@pytest.mark.quick("table.csv-image")
@pytest.mark.parametrize(("path", "kind"), [("report.docx", "pdf"), ("table.csv", "image"), ("picture.png", "text")])
def test_content_decides_over_the_name(seen: Panes, path: str, kind: str) -> None:
    # The browser refuses the picture under its wrong name once, before it is loaded by its content.
    found = seen.show(path)
    assert found.said["kind"] == kind == seen.frame.get_by_role("main").get_attribute("data-kind")
    assert found.colours > 4


@pytest.mark.thorough(quick="app/viewers/test_damaged_files.py::test_cut_columns_of_a_wide_table_are_reported")
def test_huge_table_is_shown_in_part_and_says_so(seen: Panes) -> None:
    found = seen.show("huge.csv")
    assert found.report["rows"] == 99_999
    expect(seen.frame.get_by_role("note")).to_contain_text("only the first 100,000 rows")
    seen.frame.get_by_role("grid").press("Control+ArrowDown")
    expect(seen.frame.get_by_role("gridcell", name="pear 99998", exact=True)).to_be_visible()


def test_cut_columns_of_a_wide_table_are_reported(seen: Panes) -> None:
    assert seen.show("wide.csv").report["columns"] == 500
    expect(seen.frame.get_by_role("note")).to_contain_text("500 of 16,384 columns")


@pytest.mark.thorough(quick="app/viewers/test_viewer_actions.py::test_workbook_shows_formulas_sheets_and_print")
def test_two_hundred_sheets_are_reachable(seen: Panes) -> None:
    assert seen.show("sheets.xlsx").report["sheets"] == 200
    seen.frame.get_by_role("combobox", name="Sheets").select_option("Sheet 187")
    expect(seen.frame.get_by_role("gridcell", name="187", exact=True)).to_be_visible()
    expect(seen.frame.get_by_role("tab", name="Sheet 187")).to_be_in_viewport()


@pytest.mark.thorough(quick="app/viewers/test_document_viewers.py::test_document_is_shown[text/report.pdf]")
def test_only_visible_pages_of_twenty_thousand_are_drawn(seen: Panes) -> None:
    assert seen.show("long.pdf").report["pages"] == 20_000
    box = seen.frame.get_by_role("spinbutton")
    for page in (20_000, 9_731):
        box.fill(str(page))
        box.press("Enter")
        expect(seen.frame.get_by_role("group", name=f"Page {page}", exact=True)).to_contain_text(f"Page {page} of the")
    assert seen.frame.locator("canvas").count() < 8


@pytest.mark.thorough(
    quick="app/viewers/test_damaged_files.py::test_very_long_lines_and_many_lines_are_shown[lines.txt-2000000]"
)
def test_hundred_megapixel_image_is_shown(seen: Panes) -> None:
    found = seen.show("vast.png", rest=2)
    assert (found.report["width"], found.report["height"]) == (10_000, 10_000)
    # The middle of the disc.
    assert found.picture.getpixel((450, 380)) == (90, 90, 90)


@pytest.mark.quick("lines.txt-2000000")
@pytest.mark.parametrize(("path", "lines"), [("line.txt", 1), ("lines.txt", 2_000_000)])
def test_very_long_lines_and_many_lines_are_shown(seen: Panes, path: str, lines: int) -> None:
    assert seen.show(path).report["lines"] == lines
    region = seen.frame.get_by_role("region", name="Text")
    region.evaluate("e => e.scrollTop = e.scrollHeight")
    # The last row: of one long line it is a continuation, without a number.
    number = "" if lines == 1 else str(lines)
    expect(seen.frame.locator(".row").last.locator(".number")).to_have_text(number)
    expect(seen.frame.locator(".row").last).to_be_in_viewport()


def test_endless_page_does_not_block_the_app(seen: Panes) -> None:
    seen.folder.ready("loop/index.html")
    seen.tell(type="show", content=seen.content, path=["loop/index.html"], theme="light", pane="AD-1")
    said = seen.until("() => window.told.find(m => m.type === 'shown')", seconds=60)
    assert said["report"] == {"loaded": False}
    assert seen.page.evaluate("1 + 1") == 2
    assert seen.frame.evaluate("1 + 1") == 2
    expect(seen.frame.get_by_text("has not finished loading")).to_be_visible()
    seen.frame.get_by_role("button", name="Stop").click()
    expect(seen.frame.get_by_text("The page is stopped")).to_be_visible()
    assert seen.show("picture.png").said["kind"] == "text"


def test_hostile_markup_does_no_harm(seen: Panes) -> None:
    seen.watch.expected += ("violates the following Content Security Policy",)
    seen.show("evil.md")
    assert seen.inner().locator("script, [onerror], a[href^=javascript]").count() == 0
    assert set(seen.watch.faults) <= {"a request to http://evil.example/p.png"}
    expect(seen.frame.get_by_text("1 external address blocked")).to_be_visible()
    seen.watch.faults.clear()
    assert seen.show("evil.svg").report == {"width": 40, "height": 30}
    assert "do not run" in seen.last["problem"]
    assert seen.page.url.startswith("http://ws.localhost")
