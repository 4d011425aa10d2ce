"""Blind copies made in boxes: every view has one, and converted documents name nobody."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from running.profiles import is_quick_run
from viewing.marked import SOUNDS, TEXTS
from viewing.marked_office import OFFICE, pdf
from viewing.marked_pictures import PICTURES, jpeg, tells
from viewing.material import locked_pdf, packed, take
from worksample.store import Store
from worksample.viewing import View, prepare
from worksample.viewing.box_converter import ConversionResult
from worksample.viewing.view_builder import _ViewBuild

pytestmark = [pytest.mark.box, pytest.mark.converters, pytest.mark.long]


PRINTED = ("report.docx",) if is_quick_run() else tuple(OFFICE)
"""Documents: printing one takes LibreOffice seconds, and all go the same way."""
HEARD = ("a.mp3", "a.mp4") if is_quick_run() else ("a.mp3", "a.mp4", "a.mov", "a.avi", "a.ogg", "a.aiff")


class Seen:
    """Views by path, those of the originals and those of their blind copies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store.open(folder / "store", create=True)
        made: dict[str, bytes | str] = {name: make() for name, make in TEXTS.items()}
        made |= {name: OFFICE[name]() for name in PRINTED}
        for name in ("photo.jpg", "figure.png", "scan.tif", "layers.psd"):
            made[name] = PICTURES[name](folder)
        for name in HEARD:
            made[name] = SOUNDS[name](folder)
        made |= {
            "a.pdf": pdf(),
            "locked.pdf": locked_pdf(),
            "cut.psd": b"8BPS" + bytes(40),
            "all.zip": packed({"x": "y"}),
        }
        (folder / "first").mkdir()
        self.views = self._shown(folder / "first", made)
        blind = {name: self.store.blobs.read(v.files["blind"]) for name, v in self.views.items() if "blind" in v.files}
        (folder / "second").mkdir()
        self.again = self._shown(folder / "second", dict(blind))

    def _shown(self, folder: Path, files: dict[str, bytes | str]) -> dict[str, View]:
        return asyncio.run(prepare(self.store, take(self.store, folder, files), parallel=2))

    def drawn(self, digest: str) -> list[bytes]:
        path = self.folder / f"{digest}.pdf"
        path.write_bytes(self.store.blobs.read(digest))
        subprocess.run(["pdftoppm", "-r", "60", "-png", str(path), str(path)], check=True)
        return [p.read_bytes() for p in sorted(self.folder.glob(f"{digest}.pdf-*"))]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    found = Seen(tmp_path_factory.mktemp("blind"))
    yield found
    found.store.close()


CARDS = {"locked.pdf", "cut.psd"}


def test_every_view_has_a_blind_copy_or_reports_leaks(seen: Seen) -> None:
    for name, view in seen.views.items():
        assert "blind" in view.files or "leaks" in view.meta, (name, view.problem)
        assert (view.kind == "card") == (name in CARDS), (name, view.problem)
    assert {n for n, v in seen.views.items() if "leaks" in v.meta} == CARDS


def test_only_the_original_names_anybody(seen: Seen) -> None:
    for name, view in seen.views.items():
        for artefact, digest in view.files.items():
            if artefact != "source":
                assert not tells(seen.store.blobs.read(digest)), (name, artefact)


@pytest.mark.quick("report.docx")
@pytest.mark.parametrize("name", OFFICE)
def test_blind_document_is_printed_as_before(seen: Seen, name: str) -> None:
    old, new = seen.views[name], seen.again[name]
    pages = seen.drawn(old.files["pdf"])
    assert pages and pages == seen.drawn(new.files["pdf"])


def test_blind_copy_is_shown_as_its_original(seen: Seen) -> None:
    for name, view in seen.again.items():
        was = seen.views[name]
        ignored = {"leaks", "size", "elements"}
        assert (view.kind, view.badge, view.problem) == (was.kind, was.badge, was.problem), name
        about, before = ({k: v for k, v in m.items() if k not in ignored} for m in (view.meta, was.meta))
        if name == "page.html":  # it named its author in the address of a file
            assert before.pop("absent") == ["/Zaphod"] and not before.pop("beside")
        if name.startswith("a."):
            about.pop("duration", None), before.pop("duration", None)
        assert about == before, name


async def test_crash_of_the_blind_copier_costs_no_view(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    manifest = take(seen.store, tmp_path / "in", {"odd.jpg": jpeg(1, quality=40)})

    class Crashing:
        """A converter that dies unless it is asked for the plain view."""

        def __init__(self) -> None:
            self.store, self.manifest, self.asked = seen.store, manifest, list[bool]()

        def config(self) -> None:
            return None

        async def convert_light_files(self, config: object, entries: object) -> dict[int, ConversionResult]:
            return {}

        async def convert_file(
            self, config: object, entry: object, family: str = "", *, plain: bool = False
        ) -> ConversionResult:
            self.asked.append(plain)
            sound = {"kind": "image", "files": {}, "meta": {"leaks": ["x"]}, "by": "", "badge": "", "problem": ""}
            sound |= {"inspectable": True, "beside": [], "lacks": ""}
            return ConversionResult(sound) if plain else ConversionResult(fault="the converter failed: -11")

    converter = Crashing()
    work = _ViewBuild(converter)  # type: ignore[arg-type]
    found = await work.run(manifest.entries, turn=asyncio.Semaphore(1), on_done=lambda path, view: None)
    assert converter.asked == [False, True]
    assert found["odd.jpg"].kind == "image" and found["odd.jpg"].meta["leaks"] == ["x"]
