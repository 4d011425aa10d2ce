"""Blind copies contain no names, and their visible and audible content is unchanged. No box is needed."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps, ImageSequence

from viewing import marked, marked_office
from viewing import marked_pictures as shots
from viewing.marked import SOUNDS, TEXTS
from viewing.marked_office import OFFICE
from viewing.marked_pictures import PICTURES, WHO, tells
from viewing.material import packed
from worksample.viewing.in_box import blind_copy as blind
from worksample.viewing.in_box.blind_media import aiff, flac, frames, wave
from worksample.viewing.in_box.blind_mp4 import film, items
from worksample.viewing.in_box.blind_picture import gif, jp2, jpeg, png, psd, strip_metadata, webp
from worksample.viewing.in_box.blind_rtf_and_ole import rich
from worksample.viewing.in_box.blind_tiff import tiff
from worksample.viewing.in_box.conversion_job import ConversionJob, ViewDraft
from worksample.viewing.in_box.format_detection import sniff


def blinded(folder: Path, name: str, data: bytes) -> tuple[bytes, list[str]]:
    """The blind copy and what is said of leaks."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_bytes(data)
    out = folder / "out" / "0"
    shutil.rmtree(out.parent, ignore_errors=True)
    out.mkdir(parents=True)
    (folder / "work").mkdir(exist_ok=True)
    job = ConversionJob(folder / "in" / name, name, name, folder / "in", out, folder / "work", len(data))
    job.family = sniff(job)
    made = ViewDraft("card")
    blind.add(job, made)
    found = (out.parent / made.files["blind"]).read_bytes() if "blind" in made.files else data
    return found, list(made.meta.get("leaks", []))


def pixels(data: bytes) -> list[Any]:
    """As a browser shows them: turned as the camera was held."""
    with Image.open(io.BytesIO(data)) as image:
        return [np.asarray(ImageOps.exif_transpose(f.copy()).convert("RGBA")) for f in ImageSequence.Iterator(image)]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_keep_only_their_pixels(tmp_path: Path, name: str) -> None:
    data = PICTURES[name](tmp_path)
    assert tells(data)
    found, leaks = blinded(tmp_path, name, data)
    assert not tells(found) and not leaks
    before, after = pixels(data), pixels(found)
    assert len(before) == len(after) and all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))
    again, _ = blinded(tmp_path, name, found)
    assert again == found


def test_animation_keeps_its_loop_count(tmp_path: Path) -> None:
    found, _ = blinded(tmp_path, "a.gif", shots.animation())
    with Image.open(io.BytesIO(found)) as image:
        assert (image.info["loop"], image.info["duration"], image.n_frames) == (3, 50, 2)


def heard(path: Path) -> str:
    """What a player makes of both streams, as digests."""
    words = ["ffmpeg", "-v", "error", "-i", str(path), "-map", "0:V?", "-map", "0:a", "-f", "streamhash", "-"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", SOUNDS)
def test_sounds_and_films_play_as_before(tmp_path: Path, name: str) -> None:
    data = SOUNDS[name](tmp_path)
    assert tells(data)
    found, leaks = blinded(tmp_path, name, data)
    assert not tells(found) and not leaks
    before, after = tmp_path / f"before-{name}", tmp_path / f"after-{name}"
    before.write_bytes(data)
    after.write_bytes(found)
    assert heard(before) == heard(after) != ""


@pytest.mark.parametrize("name", [*TEXTS, *OFFICE])
def test_texts_and_office_documents_lose_only_the_names(tmp_path: Path, name: str) -> None:
    data = (TEXTS | OFFICE)[name]()
    found, leaks = blinded(tmp_path, name, data)
    assert tells(data) and not tells(found) and not leaks


def test_notebook_keeps_its_cells(tmp_path: Path) -> None:
    found = json.loads(blinded(tmp_path, "a.ipynb", marked.notebook())[0])
    (cell,) = found["cells"]
    assert (cell["source"], cell["metadata"], cell["execution_count"]) == (["1 + 1"], {"tags": ["a"]}, 1)
    assert cell["outputs"][0]["data"]["text/plain"] == "<Figure>"
    assert found["metadata"]["kernelspec"]["language"] == "python"


def test_drawing_keeps_everything_drawn(tmp_path: Path) -> None:
    found = blinded(tmp_path, "a.svg", marked.svg())[0].decode()
    assert "<title>A flag</title>" in found and "desc" not in found and "Grüße" in found
    assert "<style>rect &gt; a { fill: red }</style>" in found and '<rect id="a>b" width="40"' in found
    assert 'width="40" height="30">' in found and "docname" not in found and "namedview" not in found


def test_page_keeps_its_scripts_and_framework_marks(tmp_path: Path) -> None:
    data = marked.html()
    found = blinded(tmp_path, "a.html", data)[0].decode()
    assert '<script>var a = "<!-- created by the script -->", b = "<meta name=generator>";</script>' in found
    assert "<!-- ko if: x --><p>Hello</p><!-- /ko -->" in found and '<meta charset="utf-8">' in found
    assert found.startswith("<!doctype html>\n<!---->\n<html>") and "<title>Grüße</title>" in found
    assert "META" not in found and 'rel="author"' not in found


def test_step_file_keeps_its_data(tmp_path: Path) -> None:
    found = blinded(tmp_path, "a.step", TEXTS["part.step"]())[0].decode()
    assert "FILE_NAME('','',(''),(''),'','','');" in found and "#1=CARTESIAN_POINT('',(0.,0.,0.));" in found
    assert "FILE_DESCRIPTION(('a; b'),'2;1');" in found and found.endswith("END-ISO-10303-21;\n")


def test_cad_plan_keeps_units_and_entities(tmp_path: Path) -> None:
    found = blinded(tmp_path, "a.dxf", TEXTS["plan.dxf"]())[0].decode()
    assert found.startswith("999\r\n\r\n  0\r\nSECTION") and "$LASTSAVEDBY\r\n  1\r\n\r\n  9\r\n$INSUNITS" in found
    assert found.endswith("TEXT\r\n  1\r\n999\r\n  0\r\nENDSEC\r\n  0\r\nEOF\r\n")


def drawn(path: Path, folder: Path) -> list[bytes]:
    folder.mkdir()
    subprocess.run(["pdftoppm", "-r", "72", "-png", str(path), str(folder / "p")], check=True)
    return [p.read_bytes() for p in sorted(folder.iterdir())]


def test_pdf_looks_the_same_and_names_nobody(tmp_path: Path) -> None:
    import pikepdf

    data = marked_office.pdf()
    found, leaks = blinded(tmp_path, "a.pdf", data)
    (tmp_path / "a.pdf").write_bytes(data)
    (tmp_path / "b.pdf").write_bytes(found)
    assert tells(data) and not tells(found) and not leaks
    assert drawn(tmp_path / "a.pdf", tmp_path / "a") == drawn(tmp_path / "b.pdf", tmp_path / "b")
    with pikepdf.open(tmp_path / "b.pdf") as pdf:
        assert "/Info" not in pdf.trailer and "/Metadata" not in pdf.Root
        assert [str(note["/T"]) for note in pdf.pages[0].Annots] == ["Author 1", "Author 2"]
        assert str(pdf.pages[0].Annots[0]["/Contents"]) == "hello"
    assert blinded(tmp_path, "a.pdf", data)[0] == found


def test_locked_pdf_reports_its_leak(tmp_path: Path) -> None:
    from viewing.material import locked_pdf

    found, leaks = blinded(tmp_path, "a.pdf", locked_pdf())
    assert found == locked_pdf() and "could not be removed" in leaks[0]


def test_document_keeps_text_and_order(tmp_path: Path) -> None:
    data = marked_office.docx()
    found, _ = blinded(tmp_path, "a.docx", data)
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(io.BytesIO(found)) as new:
        assert old.namelist() == new.namelist() and {i.date_time[0] for i in new.infolist()} == {1980}
        text = new.read("word/document.xml").decode()
        assert "A report, signed by nobody" in text and ' w:author="x" stays' in text
        assert 'w:author="Author 1"' in text and 'w:author="Author 1"' in new.read("word/comments.xml").decode()
        assert new.read("word/media/image1.jpg") == jpeg(shots.jpeg())


def test_odt_begins_with_its_mimetype_and_loses_its_signature(tmp_path: Path) -> None:
    found, _ = blinded(tmp_path, "a.odt", marked_office.odt())
    with zipfile.ZipFile(io.BytesIO(found)) as new:
        assert new.namelist()[0] == "mimetype" and "META-INF/documentsignatures.xml" not in new.namelist()
        assert "why?" in new.read("content.xml").decode()


def test_rich_text_keeps_its_text() -> None:
    found = rich(marked_office.rtf()).decode()
    assert found.endswith(r"\pard A letter{\revised\revauth1  with more}\par}")
    assert r"{\*\revtbl {Author 0;}{Author 1;}}" in found


@pytest.mark.long
@pytest.mark.parametrize(("extension", "source"), [("doc", "report.docx"), ("xls", "sums.xlsx")])
def test_older_office_files_lose_their_properties(tmp_path: Path, extension: str, source: str) -> None:
    import olefile

    data = marked_office.older(tmp_path, extension, OFFICE[source](), source)
    found, leaks = blinded(tmp_path, f"a.{extension}", data)
    assert tells(data) and len(found) == len(data)
    assert not tells(found) or leaks
    with olefile.OleFileIO(io.BytesIO(found)) as ole:
        about = ole.get_metadata()
        assert not about.author and not about.last_saved_by and not about.company


def test_unrewritable_file_says_so_and_names_nobody(tmp_path: Path) -> None:
    for name, data in {
        "cut.jpg": shots.jpeg()[:300],
        "cut.docx": marked_office.docx()[:-200],
        "cut.tif": shots.tiff()[:200],
        "cut.ipynb": b'{"cells": [], "metadata": {"a": "Quillfeather"',
        "song.mid": b"MThd\0\0\0\6\0\0\0\1\0\x60",
        "raw.dng": shots.tiff(),
    }.items():
        found, leaks = blinded(tmp_path, name, data)
        assert leaks or not tells(found), name
        assert found == data or not tells(found), name
        assert not any(word in " ".join(leaks) for word in WHO.split()), name


def test_archive_is_cleaned_file_by_file(tmp_path: Path) -> None:
    inner = packed({"b.jpg": shots.jpeg(), "c.ogg": SOUNDS["a.ogg"](tmp_path)})
    files = {
        "in/": b"",
        "in/a.docx": marked_office.docx(),
        "in/deep.zip": inner,
        "run.sh": b"#!/bin/sh\n",
        "p.pdf": marked_office.pdf(),
    }
    data = packed(files)
    found, leaks = blinded(tmp_path, "a.zip", data)
    assert tells(data) and not tells(found) and not leaks
    with zipfile.ZipFile(io.BytesIO(found)) as archive:
        assert archive.namelist() == list(files) and archive.read("run.sh") == files["run.sh"]
    for odd in (packed({"plan.dwg": b"AC1032" + WHO.encode()}), packed({"cut.pdf": b"%PDF-1.4 cut"})):
        found, leaks = blinded(tmp_path, "b.zip", odd)
        assert leaks and not any(word in " ".join(leaks) for word in WHO.split())
        with zipfile.ZipFile(io.BytesIO(found)) as archive, zipfile.ZipFile(io.BytesIO(odd)) as was:
            assert [archive.read(n) for n in archive.namelist()] == [was.read(n) for n in was.namelist()]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_broken_films_raise_handled_errors(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    def box(kind: bytes, body: bytes) -> bytes:
        return (len(body) + 8).to_bytes(4, "big") + kind + body

    udta, stsd = box(b"udta", WHO.encode()), box(b"stsd", bytes(8) + box(b"avc1", bytes(80)))
    whole = box(b"ftyp", b"isom") + box(b"moov", box(b"mvhd", bytes(100)) + box(b"trak", stsd + udta) + udta)
    at = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path_factory.getbasetemp() / "broken.mp4"
    path.write_bytes(whole[:at] + data.draw(st.binary(max_size=9)) + whole[at + data.draw(st.integers(0, 9)) :])
    with suppress(*blind.FAULTS):
        film(path)


HOSTILE = {
    "a.step": b"ISO-10303-21;\nHEADER;\nFILE_SCHEMA(('X'));FILE_NAME(" + b"/*" * 400_000,
    "b.step": b"ISO-10303-21;\nHEADER;\nFILE_NAME(" + b"/*x*/" * 100_000,
    "a.dae": b"<?xml version='1.0'?><COLLADA>" + b"<contributor><!--" * 200_000,
    "a.dxf": b"0\nSECTION\n" + b"\n" * 2_000_000,
    "a.svg": b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:i="inkscape"' + b" " * 1_000_000 + b' i:a="1"/>',
    "a.html": b"<!doctype html>" + b"<!-- " * 200_000 + b"<meta " * 100_000,
    "a.jpg": b"\xff\xd8\xff\xda\0\x02" + b"\xff\0" * 4_000_000,
    "a.mp3": b"ID3\3\0\0\0\0\0\0" * 400_000 + b"TAG".ljust(128) * 20_000,
    "a.mp4": b"\0\0\0\x10ftypisom" + bytes(8) + b"\0\0\0\x08free" * 1_000_000,
    "a.tif": b"II*\0\x08\0\0\0" + b"\xff\xff" + b"\x0e\x01\x02\0\xff\xff\xff\0\x08\0\0\0" * 65_535 + bytes(4),
    "a.rtf": b"{\\rtf1" + b"{\\info" * 100_000,
    "a.fodt": b"<?xml version='1.0'?><office:document " + b"<office:meta>" * 200_000,
    "a.avif": b"\0\0\0\x10ftypavif" + bytes(8),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_takes_unbounded_time(tmp_path: Path, name: str) -> None:
    began = time.process_time()
    blinded(tmp_path, name, HOSTILE[name])
    assert time.process_time() - began < 10


def test_missing_reader_reports_a_leak_and_does_not_crash(tmp_path: Path) -> None:
    job = ConversionJob(tmp_path / "a.pdf", "a.pdf", "a.pdf", tmp_path, tmp_path, tmp_path, 1 << 40, "pdf")
    made = ViewDraft("pdf")
    blind.add(job, made)
    assert "blind" not in made.files and "too large" in made.meta["leaks"][0]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_broken_pictures_and_sounds_raise_handled_errors(data: st.DataObject) -> None:
    sample, strip = data.draw(st.sampled_from(SAMPLES))
    at = data.draw(st.integers(0, len(sample) - 1))
    noise = data.draw(st.binary(max_size=12))
    with suppress(*blind.FAULTS):
        strip(sample[:at] + noise + sample[at + data.draw(st.integers(0, 20)) :])


SAMPLES = [
    (shots.jpeg(), jpeg), (shots.png(), png), (shots.animation(), gif), (shots.tiff(), tiff),
    (shots.saved("WEBP", exif=shots.exif()), webp), (shots.saved("AVIF", exif=shots.exif().tobytes()), items),
    (shots.saved("JPEG2000"), jp2), (b"8BPS" + bytes(200), psd), (b"fLaC\x80\0\0\x22" + bytes(60), flac),
    (b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0" + bytes(60), wave), (b"FORM\0\0\0\0AIFFCOMM\0\0\0\x10" + bytes(60), aiff),
    (marked.with_ape(b"ID3\3\0\0\0\0\0\x0a" + bytes(40)), frames),
    (marked_office.rtf(), rich), (shots.png(), strip_metadata),
]  # fmt: skip
