"""Word documents without their comments, which would cost them their footnotes when LibreOffice prints them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.viewing.in_box.conversion_job import ConversionJob
from worksample.viewing.in_box.office import MOST, without_comments

TEXT = b'<w:p><w:r><w:t>seen</w:t><w:commentReference w:id="0"/></w:r><w:footnoteReference w:id="2"/></w:p>'


def packed(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(f"word/{name}.xml", data)
    return out.getvalue()


def given_to(folder: Path, data: bytes, most: int = MOST) -> tuple[Path, Path]:
    """The file as it was handed in, and as it is printed."""
    (folder / "work").mkdir(exist_ok=True)
    source = folder / "a.docx"
    source.write_bytes(data)
    job = ConversionJob(source, "a.docx", "a.docx", folder, folder, folder / "work")
    return source, without_comments(job, source, most)


def test_comment_references_are_removed_and_all_else_stays(tmp_path: Path) -> None:
    source, printed = given_to(tmp_path, packed(document=TEXT, comments=b"<c/>", footnotes=b"<f>why</f>"))
    assert printed != source
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(printed) as after:
        assert after.namelist() == before.namelist()
        assert after.read("word/document.xml") == TEXT.replace(b'<w:commentReference w:id="0"/>', b"")
        assert after.read("word/footnotes.xml") == b"<f>why</f>"
        assert before.read("word/document.xml") == TEXT


def test_document_without_comments_is_printed_unchanged(tmp_path: Path) -> None:
    source, printed = given_to(tmp_path, packed(document=TEXT, footnotes=b"<f/>"))
    assert printed == source


def test_document_that_unpacks_too_large_is_printed_unchanged(tmp_path: Path) -> None:
    source, printed = given_to(tmp_path, packed(document=TEXT, comments=b"<c/>" * 100), most=100)
    assert printed == source


WHOLE = packed(document=TEXT, comments=b"<c/>")


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255), st.integers(0, len(WHOLE)))
def test_damaged_document_is_left_to_libreoffice(
    tmp_path_factory: pytest.TempPathFactory, at: int, by: int, end: int
) -> None:
    broken = bytearray(WHOLE)
    broken[at] ^= by
    for data in (bytes(broken), WHOLE[:end]):
        source, printed = given_to(tmp_path_factory.mktemp("damaged"), data)
        assert printed == source or zipfile.is_zipfile(printed)
