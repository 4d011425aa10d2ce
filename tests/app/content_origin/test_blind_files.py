"""Files that an evaluator loads do not name their makers: originals, sources, and pages of sites."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from app.content_origin.hosts import Shelf, viewed
from viewing.marked import html
from viewing.marked_office import docx
from viewing.marked_pictures import WHO, jpeg, tells

pytestmark = [pytest.mark.box, pytest.mark.converters]


async def test_originals_are_blind_copies_even_before_they_were_viewed(shelf: Shelf) -> None:
    files = {"a.jpg": jpeg(), "notes.txt": f"by {WHO}, as the brief asks"}
    async with shelf.open(files) as client:
        for there in ("/.worksample/original?path=a.jpg", "/.worksample/original?path=a.jpg&download=1"):
            found = await client.get(there)
            assert found.status_code == 200 and not tells(found.content)
            assert found.headers["content-type"] == "image/jpeg"
            assert Image.open(io.BytesIO(found.content)).size == (48, 32)
        shown = await viewed(client, "a.jpg")
        assert not tells((await client.get(shown["files"]["source"])).content)
        # What is to be read is not touched.
        assert (await client.get("/.worksample/original?path=notes.txt")).text == files["notes.txt"]


async def test_downloaded_documents_are_blind(shelf: Shelf) -> None:
    async with shelf.open({"a.docx": docx()}) as client:
        await viewed(client, "a.docx")
        found = await client.get("/.worksample/original?path=a.docx&download=1")
        assert found.content.startswith(b"PK") and not tells(found.content)


async def test_site_pages_are_blind_once_viewed(shelf: Shelf) -> None:
    async with shelf.open({"index.html": html()}) as client:
        await viewed(client, "index.html")
        page = await client.get("/")
        assert page.status_code == 200 and "<p>Hello</p>" in page.text and not tells(page.content)


async def test_leaks_are_reported(shelf: Shelf) -> None:
    async with shelf.open({"cut.pdf": b"%PDF-1.4\n" + WHO.encode()}) as client:
        shown = await viewed(client, "cut.pdf")
        assert shown["meta"]["leaks"] and WHO not in str(shown)
