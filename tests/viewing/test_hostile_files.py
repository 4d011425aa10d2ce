"""Damaged, protected, huge or misnamed files: each gets a view with a reason, and does no harm."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from viewing import material
from worksample.box import BoxLimits
from worksample.errors import StoreFull
from worksample.files import scan
from worksample.models import Visibility
from worksample.records import Manifest
from worksample.store import Store
from worksample.viewing import View, find_view, prepare, view
from worksample.viewing.box_converter import Converter

pytestmark = [pytest.mark.box, pytest.mark.converters]

LAUGHS = '<!DOCTYPE s [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg">&b;</svg>'
SCRIPTED = '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>y()</script><image href="//t.co/x"/></svg>'
MAGICS = (
    *(b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"II*\0", b"8BPS\0\1", b"\0\0\1\0\1\0"),
    *(
        b"PK\3\4",
        b"\x1f\x8b\x08",
        b"BZh9",
        b"\xfd7zXZ\0",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!\x1a\x07\0",
        b"\x28\xb5\x2f\xfd",
    ),
    *(b"SQLite format 3\0", b"MThd\0\0\0\6", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0AVI ", b"OggS", b"fLaC", b"ID3\3"),
    *(b"\0\0\0\x18ftypisom", b"\0\0\0\x18ftypavif", b"\x1a\x45\xdf\xa3", b"glTF\2\0\0\0", b"Kaydara FBX Binary  \0"),
    *(b"AutoCAD Binary DXF\r\n\x1a\0", b"AC1027", b"ply\nformat binary", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
)


def size_of(png: bytes, width: int, height: int) -> bytes:
    """The same PNG, claiming other dimensions."""
    head = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + png[24:29]
    return png[:12] + head + zlib.crc32(head).to_bytes(4, "big") + png[33:]


def circle() -> bytes:
    return material.glb({**material.TRIANGLE, "nodes": [{"mesh": 0, "children": [0]}]})


def files() -> dict[str, bytes | str]:
    return {
        "cut.pdf": material.pdf(4)[:400],
        "locked.xlsx": material.compound({"EncryptionInfo": b"\4\0\4\0", "EncryptedPackage": bytes(6_000)}),
        "locked.pdf": material.locked_pdf(),
        "bomb.png": size_of(material.picture("PNG"), 60_000, 60_000),
        "cut.png": material.picture("PNG", size=(300, 300))[:200],
        "cut.tif": material.picture("TIFF", size=(300, 300))[:5_000],
        "cut.zip": material.packed({"a.txt": "hello " * 1000})[:60],
        "laughs.svg": LAUGHS,
        "scripted.svg": SCRIPTED,
        "really-a-picture.pdf": material.picture("PNG"),
        "really-a-page.md": "<!DOCTYPE html><html><script>1</script></html>",
        "really-a-print.docx": material.pdf(2),
        "really-an-archive.png": material.packed({"a.txt": "x"}),
        "really-a-program.txt": b"\x7fELF" + bytes(range(256)) * 20,
        "circle.glb": circle(),
        "far.obj": "mtllib ../../../etc/passwd\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "infinite.obj": "v 0 0 1e999\n",
        "escape.zip": material.packed({"../../evil.txt": "x", "/abs.txt": "y", "C:\\w.txt": "z", "ok.txt": "fine"}),
        "deep.ipynb": '{"cells": ' + "[" * 50_000,
        "deep.md": ">" * 20_000 + " x\n" + "[" * 20_000,
        "deep.json": "[" * 100_000,
        "wrong.ipynb": json.dumps({"cells": [1, None, {"outputs": 7}]}),
        "quoted.csv": '"' * 5_001 + "\n" + "a," * 3_000,
        "odd 100%-ä'\"$(id).txt": "named badly",
        "-rf": "named like an option",
    }


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, View]]:
    folder = tmp_path_factory.mktemp("hostile")
    noise = random.Random(3)
    magic = {f"magic/{i:02d}": start + noise.randbytes(3_000) for i, start in enumerate(MAGICS)}
    with Store.open(folder / "store", create=True) as store:
        work = folder / "work"
        material.take(store, work, files() | magic)
        (work / "link").symlink_to("/etc/passwd")
        os.mkfifo(work / "pipe")
        (work / os.fsdecode(b"raw-\xff\n.txt")).write_text("named in bytes")
        found = asyncio.run(prepare(store, scan(work, store.blobs).manifest))
        found["ok.txt in escape.zip"] = asyncio.run(
            view(store, store.manifest(found["escape.zip"].files["unpacked"]), "ok.txt")
        )
        unpacked = [e.path for e in store.manifest(found["escape.zip"].files["unpacked"]).entries]
        assert unpacked == ["C:", "C:/w.txt", "ok.txt"]
        yield found


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("cut.pdf", "the PDF is damaged"),
        ("locked.xlsx", "protected by a password"),
        ("locked.pdf", "protected by a password"),
        ("bomb.png", "60,000 x 60,000 pixels"),
        ("cut.tif", "damaged"),
        ("cut.zip", "the archive is damaged"),
        ("laughs.svg", "defines entities"),
        ("circle.glb", "form a loop"),
        ("infinite.obj", "a coordinate is not a number"),
        ("deep.ipynb", "the notebook is damaged"),
        ("wrong.ipynb", "the notebook is damaged"),
        ("really-a-program.txt", "no viewer knows this format"),
        ("link", "a link, which is not followed"),
        ("pipe", "a pipe"),
    ],
)
def test_card_gives_the_reason(shown: dict[str, View], path: str, says: str) -> None:
    assert shown[path].kind == "card" and not shown[path].inspectable
    assert says in shown[path].problem


def test_truncated_picture_is_shown_in_part_and_called_damaged(shown: dict[str, View]) -> None:
    assert shown["cut.png"].kind == "image" and "damaged" in shown["cut.png"].problem


def test_svg_with_scripts_is_a_plain_image(shown: dict[str, View]) -> None:
    assert shown["scripted.svg"].kind == "image"
    assert shown["scripted.svg"].meta["scripts"] == 2 and shown["scripted.svg"].meta["external"] == 1


def test_content_decides_over_the_name(shown: dict[str, View]) -> None:
    kinds = {p: v.kind for p, v in shown.items() if p.startswith("really-")}
    assert kinds == {
        "really-a-picture.pdf": "image",
        "really-a-page.md": "site",
        "really-a-print.docx": "pdf",
        "really-an-archive.png": "archive",
        "really-a-program.txt": "card",
    }


def test_archive_unpacks_only_below_its_folder(shown: dict[str, View]) -> None:
    assert shown["escape.zip"].meta["entries"] == 4
    assert shown["ok.txt in escape.zip"].kind == "text"


def test_model_loads_nothing_outside_its_folder(shown: dict[str, View]) -> None:
    assert shown["far.obj"].meta["beside"] == {}
    assert shown["far.obj"].problem.startswith("its materials are missing")


def test_odd_names_and_deep_texts_are_shown(shown: dict[str, View]) -> None:
    odd = [p for p in shown if p.startswith(("odd", "raw", "-rf", "deep.json", "deep.md", "quoted"))]
    assert len(odd) == 6
    assert {p: shown[p].problem for p in odd if shown[p].kind not in ("text", "markdown", "table")} == {}


def test_noise_after_a_magic_number_gets_a_view(shown: dict[str, View]) -> None:
    seen = {p: v for p, v in shown.items() if p.startswith("magic/")}
    assert len(seen) == len(MAGICS)
    silent = [p for p, v in seen.items() if not v.problem and v.kind not in ("cad", "model")]
    assert silent == []
    assert all(v.files.get("source") for v in seen.values())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


async def one(store: Store, folder: Path, name: str, data: bytes | str, **limits: object) -> View:
    manifest = material.take(store, folder / "work", {name: data})
    return await view(store, manifest, name, converter=Converter(store, manifest, **limits))  # type: ignore[arg-type]


async def test_our_own_failures_are_raised(store: Store, tmp_path: Path) -> None:
    def full(path: str, view: View) -> None:
        raise StoreFull("no space left")

    manifest = material.take(store, tmp_path / "work", {"a.txt": "x", "b.mid": material.song(), "c.txt": "y"})
    for _ in range(2):
        with pytest.raises(StoreFull):
            await prepare(store, manifest, on_done=full)


@pytest.mark.long
async def test_bomb_is_listed_and_not_unpacked(store: Store, tmp_path: Path) -> None:
    seen = await one(store, tmp_path, "bomb.zip", material.packed({"zeros": bytes(300 << 20), "note.txt": "hello"}))
    assert seen.meta["bytes"] == (300 << 20) + 5
    assert [e.path for e in store.manifest(seen.files["unpacked"]).files] == ["note.txt"]


@pytest.mark.long
async def test_long_table_is_counted_and_shown_in_part(store: Store, tmp_path: Path) -> None:
    rows = "".join(f"{i},name {i},{i * 7 % 1000}.5,some words to make it longer\n" for i in range(300_000))
    seen = await one(store, tmp_path, "long.csv", rows)
    sheet = seen.meta["sheets"][0]
    assert (sheet["rows"], sheet["shown"], sheet["truncated"]) == (300_000, 100_000, True)
    assert material.loaded(store, seen, "0/199")[-1][0] == "99999"
    assert "only the first 100,000 rows" in seen.problem


@pytest.mark.thorough(quick="viewing/test_format_families.py::test_workbooks_are_calculated_and_printed")
@pytest.mark.long
async def test_workbook_of_two_hundred_sheets_is_shown(store: Store, tmp_path: Path) -> None:
    seen = await one(store, tmp_path, "many.xlsx", material.workbook(**{f"s{i}": [[i, "=A1*2"]] for i in range(200)}))
    assert len(seen.meta["sheets"]) == seen.meta["pages"] == 200
    assert material.loaded(store, seen, "199/0") == [[199, 398]]


async def test_endless_conversion_is_ended(store: Store, tmp_path: Path) -> None:
    seen = await one(store, tmp_path, "slow.xlsx", material.workbook(a=[[1]]), seconds=0.4)
    assert seen.kind == "card" and "did not end within 0.4 seconds" in seen.problem
    # Another time it may have more of it, so that is not kept.
    manifest = Manifest(entries=tuple(scan(tmp_path / "work", store.blobs).manifest.entries))
    assert (await view(store, manifest, "slow.xlsx")).kind == "workbook"


async def test_starved_conversion_is_our_fault_and_not_stored(store: Store, tmp_path: Path) -> None:
    manifest = material.take(store, tmp_path / "work", {"song.mid": material.song()})
    starved = Converter(store, manifest, seconds=1000, backstop=0.05)
    seen = (await prepare(store, manifest, converter=starved))["song.mid"]
    assert (seen.kind, seen.visibility) == ("card", Visibility.STARVED)
    assert "too busy" in seen.problem and "no fault of the file" in seen.problem
    assert find_view(store, manifest, manifest.digest, "song.mid") is None
    again = await view(store, manifest, "song.mid")
    assert (again.kind, again.visibility) == ("midi", Visibility.SHOWN)


async def test_background_view_is_hurried_once_somebody_waits(store: Store, tmp_path: Path) -> None:
    class Waiting:
        """A box that only notes that it is hurried."""

        hurried = 0

        async def hurry(self) -> None:
            self.hurried += 1

    manifest = material.take(store, tmp_path / "work", {"a.txt": "a", "b.txt": "b"})
    for background in (True, False):
        box, converter = Waiting(), Converter(store, manifest, background=background)
        await converter.hurry("a.txt")
        async with converter._shown_in(box, manifest.entries):  # type: ignore[arg-type]
            assert box.hurried == background
            await converter.hurry("b.txt")
            assert box.hurried == 2 * background
        await converter.hurry("b.txt")
        assert box.hurried == 2 * background


async def test_memory_hungry_conversion_is_ended_and_others_are_not(store: Store, tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("1", (9_900, 9_900)).save(out, "TIFF", compression="group4")
    png = io.BytesIO()
    Image.new("RGB", (6_500, 6_500)).save(png, "PNG", compress_level=1)
    small = {"a.txt": "before", "big.tif": out.getvalue(), "m.png": png.getvalue(), "z.txt": "after"}
    manifest = material.take(store, tmp_path / "work", small)
    limited = Converter(store, manifest, limits=BoxLimits(memory=64 << 20, disk=32 << 20))
    seen = await prepare(store, manifest, converter=limited)
    assert (seen["a.txt"].kind, seen["z.txt"].kind) == ("text", "text")
    for path in ("big.tif", "m.png"):
        assert seen[path].kind == "card" and "more than 64 MiB of memory" in seen[path].problem, seen[path]
