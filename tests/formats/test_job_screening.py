"""Screening of jobs for files, dead references and identifiers, in texts of other authors."""

from __future__ import annotations

import asyncio
import importlib.metadata
import io
import random
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from PIL import Image

from people.worlds import folder_of
from store.worlds import NOTHING, instance_of
from worksample.formats.jobs.screening import JobExamination, JobExaminer
from worksample.formats.jobs.screening.mentioned_files import links, miscounted_files, missing_files, named_files
from worksample.formats.jobs.screening.personal_identifiers import CHUNK_LENGTH, IdentifierFinder, chunks
from worksample.records import Job
from worksample.store import Store


@pytest.fixture(scope="module")
def finder() -> IdentifierFinder:
    return IdentifierFinder()


def documentations() -> list[str]:
    """Return the descriptions of installed packages, by name."""
    found = {d.metadata["Name"]: d.metadata.get("Description") or str(d.metadata.get_payload() or "")
             for d in importlib.metadata.distributions()}  # fmt: skip
    return [text for _, text in sorted(found.items()) if len(text) > 1000]


def test_planted_identifiers_are_found_in_real_texts(finder: IdentifierFinder) -> None:
    """The table of docs/reference/formats.md was made in this way, with 300 texts and names of real authors."""
    from faker import Faker

    fake, draw = Faker("de_DE"), random.Random(3)
    fake.seed_instance(3)
    people = ["Margaret Hamilton", "Björn Petersen", "María García", "Jean-Luc Moreau", "Piotr Nowak", "Anna Schmidt"]
    hits = dict.fromkeys(("EMAIL_ADDRESS", "IBAN_CODE", "PHONE_NUMBER", "PERSON"), 0)
    texts = draw.sample(documentations(), 24)
    for n, text in enumerate(texts):
        planted = {
            "EMAIL_ADDRESS": fake.company_email(), "IBAN_CODE": fake.iban(), "PERSON": people[n % len(people)],
            "PHONE_NUMBER": f"+49 30 {draw.randrange(2_000_000, 9_999_999)}",
        }  # fmt: skip
        start = draw.randrange(len(text) - 900)
        whole = (
            f"{text[start : start + 900]}\n\nOur partner is {planted['PERSON']}, " + ", ".join(planted.values()) + "\n"
        )
        found = finder.find([("description", whole)])
        for kind, value in planted.items():
            hits[kind] += any(c.kind == kind and value in c.text for c in found)
    assert hits["EMAIL_ADDRESS"] == hits["IBAN_CODE"] == len(texts)
    assert hits["PHONE_NUMBER"] >= 22 and hits["PERSON"] >= 20


def test_versions_and_dates_are_not_telephone_numbers(finder: IdentifierFinder) -> None:
    text = "Version 20251206.2.2 of 2026-11-09 needs 1.14.0 - 1.17.0. It took 333333 steps. See section 4.2."
    assert [c for c in finder.find([("d", text)]) if c.kind == "PHONE_NUMBER"] == []


def test_identifier_after_encoded_bytes_is_found(finder: IdentifierFinder) -> None:
    text = f"{'0' * 300_000} anna@firm.de\ndata:image/png;base64,{'iVBORw0KGgo' * 30_000}== +49 30 2345678"
    assert [c.text for c in finder.find([("d", text)])] == ["anna@firm.de", "+49 30 2345678"]


def test_text_is_cut_between_words() -> None:
    text = " ".join(f"word{n}" for n in range(5000))
    pieces = list(chunks(text))
    assert "".join(pieces) == text
    assert all(len(p) <= CHUNK_LENGTH and not p.endswith("wor") for p in pieces)


def test_named_files_are_distinguished_from_links() -> None:
    text = (
        'Use "price list 2026.xlsx" and logo_final.PNG (not https://example.org/a.pdf). Mail me@site.html.com. '
        "Send report.docx. The 12 attached photos are old, and we attached three PDFs."
    )
    assert named_files(text) == ("price list 2026.xlsx", "logo_final.PNG", "report.docx")
    assert links(text) == ("https://example.org/a.pdf",)
    assert missing_files(named_files(text), ["in/Price_List 2026.XLSX", "logo_final.png"]) == ("report.docx",)
    assert miscounted_files(text, ["a.jpg", "b.pdf", "c.pdf"]) == (
        "the posting mentions 12 attached photos; there is 1", "the posting mentions three PDFs; there are 2",
    )  # fmt: skip
    assert miscounted_files("Write three files of advice.", []) == ()


def office_file(author: str, text: str) -> bytes:
    book = openpyxl.Workbook()
    book.properties.creator = author
    book.active["A1"] = text  # type: ignore[index]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def picture(artist: str) -> bytes:
    exif = Image.Exif()
    exif[0x013B] = artist
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "JPEG", exif=exif)
    return out.getvalue()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("word/document.xml", b"<w:t>" + b"0" * (9 << 20) + b"</w:t>")
    return out.getvalue()


FILES = {
    "list.xlsx": office_file("Margaret Hamilton", "call +49 30 2345678"),
    "photo.jpg": picture("Jean-Luc Moreau"),
    "CV_Anna_Schmidt.txt": b"no name inside",
    "broken.docx": b"PK\x03\x04 this is no archive",
    "cut.jpg": picture("x")[:40],
    "empty.csv": b"",
    "bomb.docx": bomb(),
    "page.html": b"<html><script>var a='x'</script><p>mail anna@firm.de</p>",
    "blob.xyz": bytes(range(256)) * 4,
}


@pytest.mark.box
def test_names_in_texts_file_names_and_metadata_are_found(tmp_path: Path, finder: IdentifierFinder) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        store.blobs.put(NOTHING)
        base = instance_of("a")
        brief = "## Work description\n\nFill list.xlsx as in `sample.pdf`.\n\n## Provided material\n\n- x"
        job = base.replaced(
            work=base.work.replaced(brief=brief, inputs=folder_of(store, FILES)),
            about=base.about.replaced(job=Job(contract="c", attachments=("list.xlsx", "gone.zip"))),
        )
        look = asyncio.run(JobExaminer(store, finder).examine(job))
    assert (look.posted, look.there) == (2, len(FILES))
    assert look.missing == ("gone.zip", "sample.pdf")
    broken = dict(look.broken)
    assert set(broken) == {"broken.docx", "cut.jpg", "empty.csv", "blob.xyz"}
    places = {(c.kind, c.where) for c in look.candidates}
    assert ("PERSON", "list.xlsx: creator") in places
    assert ("PHONE_NUMBER", "list.xlsx") in places
    assert ("PERSON", "photo.jpg: Artist") in places
    assert ("PERSON", "name of CV_Anna_Schmidt.txt") in places
    assert ("EMAIL_ADDRESS", "page.html") in places
    shown = look.plain()["shown"]
    assert "`gone.zip`" in shown and "The program cannot detect: faces" in shown


def test_untrusted_text_is_shown_as_code() -> None:
    look = JobExamination(posted=1, there=0, missing=("a`](javascript:x).pdf",), links=("https://x.org/<b>",))
    shown: Any = look.as_markdown()
    assert "`a'](javascript:x).pdf`" in shown and "`https://x.org/<b>`" in shown
    assert "no program searched for it" in shown
