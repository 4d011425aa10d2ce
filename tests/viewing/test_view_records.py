"""Views without a box: their values, checks, neighbours and missing programs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.models import Visibility
from worksample.records import Entry, Manifest
from worksample.store import Store
from worksample.viewing import KINDS, View, formats
from worksample.viewing.box_converter import ConversionResult, Converter
from worksample.viewing.converter_requirements import DEBIAN, NEEDS, Need, missing
from worksample.viewing.in_box.csv_table import describe_cut
from worksample.viewing.view_builder import _ViewBuild
from worksample.viewing.view_cache import ViewCache, key
from worksample.viewing.views import META, resolve_beside

BLOB = "ab" * 32
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
)


@given(
    st.builds(
        View,
        kind=st.sampled_from(KINDS),
        badge=st.text(),
        files=st.dictionaries(st.text(), st.just(BLOB)),
        meta=st.dictionaries(st.text(), plain),
        problem=st.text(),
        inspectable=st.booleans(),
        visibility=st.sampled_from(Visibility),
    )
)
def test_view_survives_json(view: View) -> None:
    assert View.from_plain(json.loads(json.dumps(view.plain()))) == view


def test_view_of_unknown_kind_or_with_endless_meta_is_refused() -> None:
    for wrong in (
        {"kind": "evil"},
        {"kind": "text", "meta": {"x": "y" * META}},
        {"kind": "text", "meta": {"x": 1e999}},
    ):
        with pytest.raises(ValueError, match=r".+"):
            View(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("b.png", "a/b.png"),
        ("./b.png", "a/b.png"),
        ("..\\c.png", "c.png"),
        ("../a/../c.png", "c.png"),
        ("../../c.png", None),
        ("/c.png", None),
        ("100%.png", "a/100%25.png"),
        ("b", None),
    ],
)
def test_references_of_a_file_lie_in_its_folder(name: str, found: str | None) -> None:
    assert resolve_beside({"a/b.png", "a/m.obj", "c.png", "a/100%25.png"}, "a/m.obj", name) == found


@pytest.fixture
def work(tmp_path: Path) -> _ViewBuild:
    store = Store.open(tmp_path / "store", create=True)
    return _ViewBuild(Converter(store, Manifest(entries=(Entry(path="a.txt", blob=store.blobs.put(b"a"), size=1),))))


SOUND = {
    "kind": "text",
    "files": {},
    "meta": {},
    "by": "",
    "badge": "",
    "problem": "",
    "inspectable": True,
    "beside": [],
    "lacks": "",
}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "evil"},
        {"files": {"text": "../../etc/passwd"}},
        {"files": 7},
        {"meta": [1]},
        {"meta": {"x": "y" * META}},
        {"beside": 3},
        {"kind": None},
        {"lacks": "the agent's own words"},
    ],
)
def test_taken_over_converter_gives_a_card(work: _ViewBuild, change: dict[str, object]) -> None:
    (entry,) = work.manifest.entries
    assert work._view_of_result(entry, ConversionResult(dict(SOUND)))[0].kind == "text"
    view, _, _ = work._view_of_result(entry, ConversionResult({**SOUND, **change}))
    assert view.kind == "card" and "not a view" in view.problem and view.files["source"] == entry.blob


def test_taken_over_converter_cannot_invent_a_badge(work: _ViewBuild) -> None:
    (entry,) = work.manifest.entries
    assert work._view_of_result(entry, ConversionResult({**SOUND, "badge": "checked by a person"}))[0].badge == "native"


def test_missing_program_names_its_command_and_is_not_stored(work: _ViewBuild, monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = work.manifest.entries
    monkeypatch.setitem(NEEDS, "zeppelin", Need("Zeppelin", program="no-such-program", debian=("zeppelin-writer",)))
    view, _, kept = work._view_of_result(entry, ConversionResult({"family": "office", "missing": "zeppelin"}))
    assert kept == 0 and not view.inspectable and view.visibility is Visibility.MISSING
    assert "Zeppelin is missing" in view.problem and "apt-get install" in view.problem
    assert "zeppelin-writer" in view.problem


@pytest.mark.parametrize(
    ("raw", "blame"),
    [
        (
            ConversionResult({"family": "table", "unreadable": "only the beginning of the file is text"}),
            Visibility.FILE,
        ),
        (ConversionResult({"family": "office", "broken": "LibreOffice converts nothing"}), Visibility.CRASHED),
        (ConversionResult({"family": "office", "missing": "libreoffice"}), Visibility.CRASHED),
        (ConversionResult(fault="the server was too busy", blame=Visibility.STARVED), Visibility.STARVED),
        (ConversionResult({**SOUND, "lacks": "crashed"}), Visibility.CRASHED),
        (ConversionResult({**SOUND, "inspectable": False}), Visibility.FILE),
        (ConversionResult(dict(SOUND)), Visibility.SHOWN),
        (ConversionResult({"family": "office"}, fault="the converter failed"), Visibility.CRASHED),
        (ConversionResult({"family": "office"}, fault="too much memory", blame=Visibility.FILE), Visibility.FILE),
        (ConversionResult(), Visibility.CRASHED),
    ],
)
def test_failed_view_says_whose_fault_it_is(work: _ViewBuild, raw: ConversionResult, blame: Visibility) -> None:
    view, _, kept = work._view_of_result(work.manifest.entries[0], raw)
    assert view.visibility is blame
    assert kept == (0 if blame.is_our_fault else None)


def test_stored_view_counts_while_artefacts_and_converter_exist(work: _ViewBuild) -> None:
    (entry,) = work.manifest.entries
    shelf, name, store = ViewCache(work.store), key(work.digest, entry), work.store
    artefact = store.blobs.put(b"artefact")
    view = View("text", files={"text": artefact})
    shelf.put(name, view, "pillow")
    assert shelf.find(name) == view
    kept = next(Path(store.name).glob("views/*/*"))
    for broken in (kept.read_text().replace('"version":"', '"version":"0.'), "{", "[]"):
        good = kept.read_text()
        kept.chmod(0o644)
        kept.write_text(broken)
        assert shelf.find(name) is None
        kept.write_text(good)
    shelf.put(name, view, "", seconds=-1)
    assert shelf.find(name) is None
    shelf.put(name, view, "", seconds=60)
    assert shelf.find(name) == view
    store.blobs.path(artefact).unlink()
    assert shelf.find(name) is None


def test_view_key_covers_content_extension_and_neighbours() -> None:
    def named(path: str, blob: str = BLOB, other: str = BLOB) -> str:
        manifest = Manifest(entries=(Entry(path=path, blob=blob), Entry(path="zz", blob=other)))
        return key(manifest.digest, manifest.entries[0])

    assert named("a.txt") == named("b/c.TXT") == named("a.txt", other="cd" * 32)
    assert len({named("a.txt"), named("a.py"), named("a.txt", "cd" * 32)}) == 3
    assert named("a.obj") != named("a.obj", other="cd" * 32)


def test_table_lists_requirements_of_each_format() -> None:
    table = formats()
    assert {f.kind for f in table} == set(KINDS)
    names = [e for f in table for e in f.extensions]
    assert len(names) == len(set(names)) > 80
    for form in table:
        assert set(form.needs) <= set(NEEDS)
        assert form.here == (not missing(form.needs)) == (form.line == "")
        assert form.badge.startswith(("native", "converted", "thumbnail only"))


def test_every_program_names_its_packages() -> None:
    for need in NEEDS.values():
        assert bool(need.module) != bool(need.debian)
        assert need.module or shutil.which(need.program) or need.file or "apt-get install" in need.line
    assert "libreoffice-calc" in DEBIAN and "fonts-crosextra-carlito" in DEBIAN


def test_docs_contain_the_table_of_formats() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference/viewing.md").read_text()
    assert "<!-- formats -->" in text, "docs/generate.py puts the table there"
    assert " ".join(DEBIAN) in text


@pytest.mark.parametrize(
    ("rows", "columns", "says"),
    [(5, 5, ""), (9, 5, "the first 5 rows are"), (5, 600, "500 of 600 columns are"), (9, 600, "5 rows and 500 of 600")],
)
def test_cut_of_a_table_is_reported(rows: int, columns: int, says: str) -> None:
    told = describe_cut({"rows": rows, "shown": 5, "columns": columns})
    assert says in told
    assert bool(told) == bool(says)
