"""Exhibits for a judge: the files of a folder as text, tables and pictures, and names of files that cannot be shown."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from openpyxl import Workbook
from PIL import Image

from viewing.material import picture, take
from worksample.box import Completed
from worksample.models import Exhibit, Look, Visibility
from worksample.store import Store, put_canonical
from worksample.viewing import exhibits
from worksample.viewing.exhibit_builder import UNSEEN, _PdfPages, _render_pdf

SOLID = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a"
)


def printed() -> bytes:
    """A PDF of two pages without a text."""
    pages = [Image.new("RGB", (200, 300), colour) for colour in ("red", "blue")]
    out = io.BytesIO()
    pages[0].save(out, "PDF", save_all=True, append_images=pages[1:])
    return out.getvalue()


def book() -> bytes:
    made, out = Workbook(), io.BytesIO()
    made.active.append(["item", "amount"])
    made.active.append(["hours", 12])
    hidden = made.create_sheet("rates")
    hidden.append(["rate", 80])
    hidden.sheet_state = "hidden"
    made.save(out)
    return out.getvalue()


@pytest.mark.box
@pytest.mark.converters
@pytest.mark.long(seconds=30)
async def test_judge_sees_what_people_see(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    files: dict[str, bytes | str] = {
        "a/notes.md": "# Notes\nTotal 5", "b.csv": "x,y\n1,2\n", "c.png": picture("PNG"), "d.pdf": printed(),
        "e.xlsx": book(), "f.bin": bytes(range(256)) * 8, "g.txt": "", "h.stl": SOLID,
    }  # fmt: skip
    manifest = take(store, tmp_path / "work", files)
    digest = put_canonical(store.blobs, manifest.plain())
    found: dict[str, list[Exhibit]] = {}
    for exhibit in await exhibits(store, digest):
        found.setdefault(exhibit.name.split(",")[0].split(" ")[0], []).append(exhibit)
    store.close()
    assert "Total 5" in found["a/notes.md"][0].text
    assert (found["b.csv"][0].look, found["b.csv"][0].text) == (Look.TABLE, "x,y\n1,2\n")
    assert [e.look for e in found["c.png"]] == [Look.PICTURE]
    pages = [e for e in found["d.pdf"] if e.look is Look.PICTURE]
    colours = [Image.open(io.BytesIO(p.data)).convert("RGB").getpixel((50, 50)) for p in pages]
    assert [max(range(3), key=lambda c: colour[c]) for colour in colours] == [0, 2]
    tables = [e for e in found["e.xlsx"] if e.look is Look.TABLE]
    assert "hours,12" in tables[0].text
    assert "(hidden)" in tables[1].name
    assert "rate,80" in tables[1].text
    assert any(e.look is Look.PICTURE for e in found["e.xlsx"])
    assert [e.side for e in found["f.bin"]] == [UNSEEN]
    blamed = {name: {e.visibility for e in some} for name, some in found.items()}
    assert blamed.pop("f.bin") == blamed.pop("g.txt") == {Visibility.FILE}
    assert blamed.pop("h.stl") == {Visibility.PEOPLE_ONLY}
    assert set().union(*blamed.values()) == {Visibility.SHOWN}


@pytest.mark.box
async def test_undrawable_files_are_our_fault_and_damaged_files_their_own(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    sound = store.blobs.put(printed())
    whole = await _render_pdf(store, sound, 2)
    assert sorted(whole.pages) == [1, 2] and whole.blame is Visibility.SHOWN
    cut = await _render_pdf(store, store.blobs.put(printed()[:200]), 2)
    assert not cut.pages and cut.blame is Visibility.FILE and cut.said
    store.close()
    for ended, blame in (
        (Completed(-11, b"", b""), Visibility.CRASHED),
        (Completed(127, b"", b"pdftoppm: No such file"), Visibility.CRASHED),
        (Completed(-9, b"", b"", timed_out=True), Visibility.FILE),
        (Completed(-9, b"", b"", timed_out=True, starved=True), Visibility.STARVED),
        (Completed(1, b"", b"Syntax Error"), Visibility.FILE),
        (Completed(0, b"", b""), Visibility.SHOWN),
    ):
        found = _PdfPages()
        found.note("its pages cannot be drawn", ended)
        assert (found.blame, bool(found.said)) == (blame, blame is not Visibility.SHOWN)
