"""Every format of the document viewers is shown in the real viewer, with the facts that the server states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.viewers.showing import Panes

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.converters, pytest.mark.long]
Check = Callable[[dict[str, Any]], bool]

EXPECTED: dict[str, tuple[str, str, Check]] = {
    "text/run.py": ("text", "native", lambda r: r["lines"] == 8 and r["coloured"]),
    "text/old.txt": ("text", "native", lambda r: r["lines"] == 4),
    "text/read.md": ("markdown", "converted", lambda r: r["preview"]),
    "text/paper.tex": ("tex", "converted", lambda r: r["preview"]),
    "text/report.pdf": ("pdf", "native", lambda r: r["pages"] == 3 and r["text"] > 0),
    "text/book.ipynb": ("notebook", "native", lambda r: r["cells"] == 2 and r["outputs"] == 5),
    "table/prices.csv": ("table", "native", lambda r: (r["rows"], r["columns"]) == (2000, 3)),
    "table/genes.tsv": ("table", "native", lambda r: (r["rows"], r["columns"]) == (1, 2)),
    "table/sums.xlsx": ("workbook", "converted", lambda r: (r["sheets"], r["rows"], r["columns"]) == (2, 2, 3)),
    "table/stock.db": ("database", "native", lambda r: (r["tables"], r["rows"]) == (2, 2)),
    "office/letter.rtf": ("pdf", "converted", lambda r: r["pages"] == 1 and r["text"] > 0),
    "office/report.docx": ("pdf", "converted", lambda r: r["pages"] == 1 and r["text"] > 0),
    "office/talk.fodp": ("pdf", "converted", lambda r: r["pages"] == 2),
    **{
        f"image/a.{kind}": ("image", "native", lambda r: (r["width"], r["height"]) == (320, 200))
        for kind in ("png", "jpg", "webp", "gif", "bmp")
    },
    "image/a.ico": ("image", "native", lambda r: r["width"] == 64),
    "image/b.avif": ("image", "native", lambda r: r["width"] == 320),
    "image/c.svg": ("image", "native", lambda r: r["width"] > 0),
    "image/d.tif": ("pages", "converted", lambda r: (r["pages"], r["width"]) == (2, 320)),
    "image/e.psd": ("pages", "converted", lambda r: (r["pages"], r["width"]) == (1, 320)),
    "more/deck.apkg": ("cards", "native", lambda r: r["notes"] == 1),
    "more/all.zip": ("archive", "native", lambda r: (r["entries"], r["unpacked"]) == (4, 3)),
    "more/all.7z": ("archive", "converted", lambda r: r["entries"] == 1),
    "site/index.html": ("site", "native", lambda r: r["loaded"]),
    "more/odd.xyz": ("card", "card", lambda r: r["card"]),
    "more/empty.docx": ("card", "card", lambda r: r["card"]),
}


@pytest.mark.quick(
    "text/report.pdf", "office/report.docx", "image/a.png", "image/e.psd", "more/deck.apkg", "more/odd.xyz"
)
@pytest.mark.parametrize("path", EXPECTED)
def test_document_is_shown(seen: Panes, path: str) -> None:
    kind, badge, facts = EXPECTED[path]
    found = seen.show(path)
    assert (found.said["kind"], found.said["badge"].split(" (")[0]) == (kind, badge)
    assert facts(found.report), found.report
    assert found.said["inspectable"] is (path != "more/odd.xyz")
    # An empty pane has one colour, the checks behind a picture have two.
    assert found.colours > 3, "the pane is blank"
    assert seen.frame.get_by_role("main").get_attribute("data-kind") == kind


def test_views_are_not_cards(seen: Panes) -> None:
    card = seen.show("more/odd.xyz")
    for path in ("text/run.py", "table/prices.csv", "image/a.png", "text/report.pdf"):
        assert seen.show(path).unlike(card) > 1, path
