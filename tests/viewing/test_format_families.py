"""Every family of formats is shown as docs/viewing.md says, in one folder that is prepared once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from running.profiles import is_quick_run
from viewing import material
from viewing.families import files
from worksample.records import Manifest
from worksample.store import Store
from worksample.viewing import KINDS, View, prepare, query, renderings_of, view
from worksample.viewing.format_table import expected_format

pytestmark = [pytest.mark.box, pytest.mark.converters, pytest.mark.long]


SPARED = {"office/letter.rtf", "office/talk.fodp"} if is_quick_run() else frozenset[str]()
"""LibreOffice takes seconds for each, and prints them as it prints the report."""


class Shown:
    """A prepared folder."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self.store, self.manifest = store, manifest
        self.told: list[str] = []
        self.views = asyncio.run(prepare(store, manifest, on_done=lambda path, view: self.told.append(path)))

    def __getitem__(self, path: str) -> View:
        return self.views[path]

    def json(self, path: str, name: str) -> object:
        return material.loaded(self.store, self.views[path], name)

    def data(self, path: str, name: str) -> bytes:
        return self.store.blobs.read(self.views[path].files[name])


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("families")
    (folder / "scratch").mkdir()
    with Store.open(folder / "store", create=True) as store:
        made = {path: data for path, data in files(folder / "scratch").items() if path not in SPARED}
        yield Shown(store, material.take(store, folder / "work", made))


def test_every_entry_has_a_view_that_names_its_source(shown: Shown) -> None:
    assert set(shown.views) == {e.path for e in shown.manifest.entries} == set(shown.told)
    for entry in shown.manifest.files:
        assert shown[entry.path].files["source"] == entry.blob
        assert shown[entry.path].kind in KINDS
    assert all(shown.store.blobs.has(d) for v in shown.views.values() for d in v.files.values())


def test_formats_are_shown_as_their_table_says(shown: Shown) -> None:
    for path, seen in shown.views.items():
        likely = expected_format(path.rpartition("/")[2])
        if likely is not None and path != "more/empty.docx":
            assert likely.here, f"{likely.line}: the tests need it"
            assert seen.kind == likely.kind, (path, seen.problem)
            if likely.badge != seen.badge:
                # Of sounds and films some play as they are; not every file holds a picture of itself.
                assert likely.kind in ("audio", "video") or path == "cad/gear.ipt", path


def test_texts_are_shown(shown: Shown) -> None:
    assert shown["text/run.py"].meta["language"] == "Python"
    lines = shown.json("text/run.py", "lines")
    assert ["".join(t for _, t in line) for line in lines] == ["import os", "", "print(os.name)", ""]  # type: ignore[attr-defined]
    assert shown.data("text/old.txt", "text").decode() == "Größe: 3 µm, größer als früher\n"
    assert shown.data("text/wide.txt", "text").decode() == "naïve café\n"


def test_markdown_runs_nothing(shown: Shown) -> None:
    html = shown.data("text/read.md", "html").decode()
    assert "<script" not in html and 'href="javascript' not in html and "<h1>Title</h1>" in html
    assert shown["text/read.md"].meta["beside"] == {"../image/a.png": "image/a.png"}


def test_tex_has_a_preview_and_finds_its_pdf(shown: Shown) -> None:
    assert b"<math" in shown.data("text/paper.tex", "html")
    assert shown["text/paper.tex"].meta["beside"] == {"paper.pdf": "text/paper.pdf"}
    assert shown["text/paper.pdf"].meta["pages"] == 3


def test_notebooks_are_shown(shown: Shown) -> None:
    first, second = shown.json("text/book.ipynb", "cells")  # type: ignore[misc]
    assert "&lt;b&gt;" in first["html"]
    assert [o["type"] for o in second["outputs"]] == ["text", "image", "error"]
    assert shown.data("text/book.ipynb", second["outputs"][1]["file"]).startswith(b"\x89PNG")
    assert shown["text/book.ipynb"].meta["errors"] == 1


def test_tables_are_shown(shown: Shown) -> None:
    assert shown.json("table/prices.csv", "0/0") == [["item", "price"], ["pear", "1,20"], ["fig", "0,35"]]
    assert shown["table/prices.csv"].meta["delimiter"] == ";"
    assert shown["table/prices.csv"].meta["header"]
    assert shown.json("table/genes.tsv", "0/0")[1] == ["BRCA1", "3"]  # type: ignore[index]


def test_workbooks_are_calculated_and_printed(shown: Shown) -> None:
    assert shown.json("table/sums.xlsx", "0/0") == [[1, 2, 3]]
    assert shown.json("table/sums.xlsx", "0/formulas") == {"C1": "=A1+B1"}
    assert [s["name"] for s in shown["table/sums.xlsx"].meta["sheets"]] == ["First", "Second"]
    assert shown.data("table/sums.xlsx", "pdf").startswith(b"%PDF")
    assert shown["table/sums.xlsx"].meta["pages"] == 2
    assert shown["table/sums.xlsx"].badge.startswith("converted (LibreOffice ")


def test_office_documents_are_printed(shown: Shown) -> None:
    wanted = {"office/letter.rtf": 1, "office/report.docx": 1, "office/talk.fodp": 3}
    for path in wanted.keys() - SPARED:
        assert shown.data(path, "pdf").startswith(b"%PDF")
        assert shown[path].meta["pages"] == wanted[path]


def test_databases_are_shown(shown: Shown) -> None:
    assert shown.json("table/stock.db", "0/0") == [["pear", 4, "<2 bytes: 00ff>"]]
    assert [s["name"] for s in shown["table/stock.db"].meta["sheets"]] == ["stock", "pears"]


async def test_database_answers_queries_only(shown: Shown) -> None:
    async def ask(sql: str) -> object:
        return await query(shown.store, shown.manifest, "table/stock.db", sql)

    answer = await query(shown.store, shown.manifest, "table/stock.db", "SELECT n * 2 AS double FROM stock")
    assert (answer.columns, answer.rows, answer.problem) == (("double",), ((8,),), "")
    for bad in ("DELETE FROM stock", "ATTACH '/etc/passwd' AS x", "SELECT nothing"):
        assert (await query(shown.store, shown.manifest, "table/stock.db", bad)).problem
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    assert (await query(shown.store, shown.manifest, "table/stock.db", endless)).problem == "interrupted"


def test_pictures_are_shown(shown: Shown) -> None:
    assert (shown["image/a.png"].meta["width"], shown["image/a.png"].meta["height"]) == (40, 20)
    assert shown["image/b.avif"].badge == "native"
    assert shown["image/c.svg"].problem == ""
    assert shown["image/d.tif"].meta["pages"] == [{"width": 40, "height": 20}, {"width": 8, "height": 4}]
    assert shown.data("image/d.tif", "page/1").startswith(b"\x89PNG")
    assert shown.data("image/f.tif", "page/0").startswith(b"\x89PNG")
    assert [layer["name"] for layer in shown.json("image/e.psd", "layers")] == ["logo"]  # type: ignore[attr-defined]


def test_only_unplayable_films_are_converted(shown: Shown) -> None:
    for path, again in {"a.mp4": None, "b.mkv": "remuxed", "c.avi": "transcoded", "d.webm": None}.items():
        seen = shown[f"media/{path}"]
        assert seen.meta.get("again") == again, path
        assert ("video" in seen.files) == (again is not None)
        assert shown.data(f"media/{path}", "poster").startswith(b"\xff\xd8")
        assert 0.9 < seen.meta["duration"] < 1.2


def test_sounds_are_shown(shown: Shown) -> None:
    assert "audio" not in shown["media/e.mp3"].files
    assert shown["media/f.wma"].badge.startswith("converted (ffmpeg ")
    peaks = shown.json("media/e.mp3", "peaks")
    assert len(peaks) > 500 and 0.05 < max(peaks) <= 1  # type: ignore[arg-type, type-var, call-overload]


def test_midi_is_played_and_its_notes_listed(shown: Shown) -> None:
    notes = shown.json("media/g.mid", "notes")
    assert notes == [[0.0, 0.5, 60, 64, 0, 0], [0.5, 0.5, 64, 64, 0, 0], [1.0, 0.5, 67, 64, 0, 0]]
    assert b"ftyp" in shown.data("media/g.mid", "audio")[:16]


def test_models_are_measured(shown: Shown) -> None:
    assert shown["model/tri.glb"].meta["triangles"] == 1
    assert shown["model/tri.glb"].meta["box"] == [[10, 0, 0], [12, 2, 0]]
    quad = shown["model/quad.obj"].meta
    assert (quad["triangles"], quad["box"]) == (2, [[0, 0, 0], [2, 3, 0]])
    assert quad["beside"] == {"quad.mtl": "model/quad.mtl", "../image/a.png": "image/a.png"}
    assert quad["absent"] == ["gone.png"]
    assert shown["model/one.stl"].meta["triangles"] == 1
    crate = shown["model/crate.fbx"].meta
    assert crate["beside"] == {"wood.png": "model/wood.png", "../image/a.png": "image/a.png"}
    assert crate["absent"] == ["gone.jpg"] and "jane" not in json.dumps(crate)


def test_sketchup_becomes_a_model(shown: Shown) -> None:
    seen = shown["model/roof.skp"]
    assert seen.badge.startswith("converted (openskp ") and seen.meta["triangles"] >= 2
    assert shown.data("model/roof.skp", "model").startswith(b"glTF")
    assert shown["model/part.3mf"].meta["box"] == [[0, 0, 0], [4, 5, 0]]


def test_closed_formats_show_their_stored_preview_and_no_names(shown: Shown) -> None:
    tower, gear = shown["cad/tower.rvt"], shown["cad/gear.ipt"]
    assert (tower.badge, tower.inspectable, tower.meta["info"]) == ("thumbnail only", False, "Revit 2022")
    assert shown.data("cad/tower.rvt", "thumbnail").startswith(b"\x89PNG")
    assert "jane" not in json.dumps(tower.plain())
    assert (gear.badge, gear.inspectable) == ("card", False)


def test_drawings_are_shown(shown: Shown) -> None:
    (layout,) = shown["cad/plan.dxf"].meta["layouts"]
    assert (layout["name"], layout["box"], layout["entities"]) == ("Model", [0, 0, 10, 5], 2)
    assert b"<svg" in shown.data("cad/plan.dxf", "layout/0")[:200]
    assert "walls" in {layer["name"] for layer in shown.json("cad/plan.dxf", "layers")}  # type: ignore[attr-defined]
    assert shown["cad/part.stp"].meta["common"] == [["CARTESIAN_POINT", 1]]
    assert shown["cad/house.ifc"].meta["schema"] == "IFC4"
    assert b'data-layer="' in shown.data("cad/plan.dxf", "layout/0")
    # The circle has no colour of its own: on white paper that is black.
    assert b"stroke: #000000" in shown.data("cad/plan.dxf", "layout/0")
    assert b"stroke: #000000" in shown.data("cad/old.dwg", "layout/0")
    a, b, c, d, e, _ = layout["matrix"]
    assert (b, c, a == -d, a > 0) == (0, 0, True, True)
    assert (e, a * 10 + e) == pytest.approx((25_000_000, 75_000_000), rel=0.01)
    drawn = shown["cad/old.dwg"]
    assert (drawn.meta["version"], drawn.badge.split(" (")[0]) == ("2000", "converted")
    assert (drawn.meta["layouts"][0]["entities"], drawn.meta["layouts"][0]["box"]) == (2, [0, 0, 10, 5])


def test_anki_decks_are_shown(shown: Shown) -> None:
    cards = shown.json("more/deck.apkg", "cards")
    assert cards["notes"][0]["fields"][1] == "Nile"  # type: ignore[index, call-overload]
    assert shown.data("more/deck.apkg", cards["media"]["nile.png"]).startswith(b"\x89PNG")  # type: ignore[index, call-overload]


async def test_archives_of_other_formats_are_shown(shown: Shown) -> None:
    inner = shown.store.manifest(shown["more/all.7z"].files["unpacked"])
    assert [e.path for e in inner.files] == ["inside.txt"]


async def test_archives_open_as_folders_with_views(shown: Shown) -> None:
    assert [row[0] for row in shown.json("more/all.zip", "tree")] == ["in/notes.txt", "in/deep.zip"]  # type: ignore[attr-defined]
    inner = shown.store.manifest(shown["more/all.zip"].files["unpacked"])
    deep = await view(shown.store, inner, "in/deep.zip")
    innermost = shown.store.manifest(deep.files["unpacked"])
    assert (await view(shown.store, innermost, "x.txt")).kind == "text"


def test_sites_list_their_external_addresses(shown: Shown) -> None:
    seen = shown["site/index.html"]
    assert seen.meta["external"] == ["cdn.net"] and "cdn.net" in seen.problem
    assert seen.meta["beside"] == {"app.js": "site/app.js"}


def test_unshowable_files_are_uninspectable(shown: Shown) -> None:
    odd = shown["more/odd.xyz"]
    assert (odd.kind, odd.badge, odd.inspectable) == ("card", "card", False)
    assert odd.meta["head"].startswith("000102")
    assert shown["more/empty.docx"].problem == "the file is empty"


async def test_no_view_is_made_twice(shown: Shown) -> None:
    before = {
        p: hashlib.sha256(json.dumps(v.plain(), sort_keys=True).encode()).digest() for p, v in shown.views.items()
    }
    kept = {p.name: p.stat().st_mtime_ns for p in Path(shown.store.name).glob("views/*/*")}
    again = await prepare(shown.store, shown.manifest)
    after = {p: hashlib.sha256(json.dumps(v.plain(), sort_keys=True).encode()).digest() for p, v in again.items()}
    assert before == after
    assert kept == {p.name: p.stat().st_mtime_ns for p in Path(shown.store.name).glob("views/*/*")} and kept


async def test_task_check_reports_renderings(shown: Shown) -> None:
    rows = await renderings_of(shown.store, shown.manifest)
    assert [r.path for r in rows] == [e.path for e in shown.manifest.files]
    said = {r.path: r.description for r in rows}
    assert said["image/a.png"] == "image/a.png: shown as image, native"
    assert said["more/odd.xyz"] == "more/odd.xyz: shown as card (no viewer knows this format)"
    assert {r.path for r in rows if not r.inspectable} == {"more/odd.xyz", "cad/tower.rvt", "cad/gear.ipt"}
