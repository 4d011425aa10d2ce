"""Exhibits for judge models: the deliverables that people see in a browser, as text, tables and pictures.

The program Poppler renders pages and extracts text in a box. Content that only a browser can show (3D models, drawings,
sound) is described in words. It is marked as not shown, so that readers of the verdict know that the judge did not see
it.
"""

from __future__ import annotations

import asyncio
import csv
import errno
import io
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.box import Completed, FairTimeout
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.models import Exhibit, Look, Visibility
from worksample.records import Entry, EntryKind, Manifest
from worksample.sandboxes import open_box

from . import converter_requirements as needs
from .box_converter import IN, WORK, Converter
from .view_builder import prepare
from .views import View

if TYPE_CHECKING:
    from worksample.store import Store

UNSEEN = "what could not be shown"
PAGES = 12
"""Maximum pages of a document that are rendered. The text of the document is extracted from all pages."""
TEXT = 400_000
"""Maximum characters of the text of one file."""
ROWS = 2_000
"""Maximum rows of a table."""
PICTURES = 24
"""Maximum pictures of a notebook."""
PICTURE = 4 << 20
"""Maximum bytes of a picture."""
SECONDS = 60.0
"""Maximum seconds to extract the text of a document, and again to render its pages. Time in which the program waits for
a processor does not count.
"""
_MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


async def exhibits(store: Store, manifest: str, *, parallel: int = 2) -> tuple[Exhibit, ...]:
    """Return the exhibits of a manifest, sorted by path. `manifest` is the manifest's digest. Raises the errors of
    `prepare`.
    """
    read = await asyncio.to_thread(store.manifest, manifest)
    views = await prepare(store, read, parallel=parallel)
    found: list[Exhibit] = []
    for entry in sorted(read.entries, key=lambda e: e.path):
        if entry.kind is not EntryKind.FOLDER and entry.path in views:
            found += await _ViewedFile(store, entry, views[entry.path]).exhibits()
    return tuple(found)


@dataclass
class _ViewedFile:
    """A delivered file and its view."""

    store: Store
    entry: Entry
    view: View
    read: dict[str, Callable[[], Iterator[Exhibit]]] = field(init=False)

    def __post_init__(self) -> None:
        texts = ("text", "markdown", "tex", "site")
        self.read = dict.fromkeys(texts, self._text)
        self.read |= {"table": self._tables, "workbook": self._tables, "database": self._tables}
        self.read |= {"image": self._image, "pages": self._page_images, "video": self._poster, "notebook": self._cells}

    async def exhibits(self) -> list[Exhibit]:
        """Return the exhibits of the file, and a note about the content that cannot be shown."""
        found = list(await asyncio.to_thread(lambda: list(self.read.get(self.view.kind, self._empty_exhibit)())))
        if self.view.kind in ("pdf", "workbook"):
            found += await self._pages(with_text=self.view.kind == "pdf")
        unseen = not found or not self.view.inspectable
        if unseen or self.view.problem:
            said = self.view.problem or f"shown to people as {self.view.kind}"
            blame = self.view.visibility
            if unseen and blame is Visibility.SHOWN:
                blame = Visibility.FILE if self.view.kind == "card" else Visibility.PEOPLE_ONLY
            side = UNSEEN if unseen else ""
            found.append(Exhibit(Look.TEXT, self.entry.path, said, side=side, visibility=blame))
        return found

    def _empty_exhibit(self) -> Iterator[Exhibit]:
        return iter(())

    def _blob(self, name: str, most: int) -> bytes:
        digest = self.view.files.get(name)
        return self.store.blobs.read(digest, most) if digest else b""

    def _text(self) -> Iterator[Exhibit]:
        data = self._blob("text", 4 * TEXT) or self._blob("source", 4 * TEXT)
        if data:
            yield Exhibit.of_text(data.decode("utf-8", "replace")[:TEXT], self.entry.path)

    def _cells(self) -> Iterator[Exhibit]:
        cells = json.loads(self._blob("cells", 64 << 20) or b"[]")
        lines = [f"[{c.get('type', '')}]\n{c.get('source', '')}\n{_outputs(c)}" for c in cells]
        yield Exhibit.of_text("\n".join(lines)[:TEXT], self.entry.path)
        shown = [o["file"] for c in cells for o in c.get("outputs", []) if isinstance(o, dict) and o.get("file")]
        for number, name in enumerate(map(str, shown[:PICTURES]), 1):
            kind = next((mime for mime in _MIMES.values() if name.endswith(mime.split("/")[1])), "image/png")
            if name.endswith(".svg"):
                source = self._blob(name, 4 * TEXT).decode("utf-8", "replace")[:TEXT]
                yield Exhibit.of_text(source, f"{self.entry.path}, picture {number}, its source")
            else:
                yield from self._picture(name, kind, f", picture {number}")

    def _tables(self) -> Iterator[Exhibit]:
        for number, sheet in enumerate(self.view.meta.get("sheets", [])):
            rows: list[list[Any]] = []
            for part in range(1 + ROWS // int(self.view.meta.get("chunk", 500))):
                rows += json.loads(self._blob(f"{number}/{part}", 64 << 20) or b"[]")
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(rows[:ROWS])
            hidden = " (hidden)" if sheet.get("hidden") else ""
            said = f"{self.entry.path}, {sheet.get('name', '')}{hidden}"
            yield Exhibit.of_text(out.getvalue()[:TEXT], said, table=True)
            formulas = json.loads(self._blob(f"{number}/formulas", 16 << 20) or b"{}")
            if formulas:
                lines = "\n".join(f"{cell}: {formula}" for cell, formula in list(formulas.items())[:ROWS])
                yield Exhibit.of_text(lines[:TEXT], f"{said}, formulas")

    def _image(self) -> Iterator[Exhibit]:
        name = "blind" if "blind" in self.view.files else "source"
        mime = _MIMES.get(str(self.view.meta.get("format", "")).upper())
        if mime is not None:
            yield from self._picture(name, mime)
            return
        data = self._blob(name, 4 * TEXT)
        # Only browsers draw SVG; models read its source.
        if b"<svg" in data[:4096].lower():
            yield Exhibit.of_text(data.decode("utf-8", "replace")[:TEXT], f"{self.entry.path}, its source")

    def _page_images(self) -> Iterator[Exhibit]:
        for number in range(min(PAGES, int(self.view.meta.get("total", PAGES)))):
            yield from self._picture(f"page/{number}", "image/png", f", page {number + 1}")

    def _poster(self) -> Iterator[Exhibit]:
        yield from self._picture("poster", "image/png", ", a frame")

    def _picture(self, name: str, mime: str, part: str = "") -> Iterator[Exhibit]:
        data = self._blob(name, PICTURE + 1)
        if 0 < len(data) <= PICTURE:
            kind = "image/jpeg" if data.startswith(b"\xff\xd8") else mime
            yield Exhibit.of_picture(data, f"{self.entry.path}{part}", mime=kind)

    async def _pages(self, *, with_text: bool) -> list[Exhibit]:
        """Return pictures of the first pages of a document, and its text if `with_text`."""
        digest = self.view.files.get("pdf") or (self.view.files.get("source") if self.view.kind == "pdf" else None)
        if digest is None:
            return []
        name = self.entry.path
        try:
            drawn = await _render_pdf(self.store, digest, int(self.view.meta.get("pages", 1)))
        except SandboxUnavailable:
            raise
        except SandboxError as error:
            drawn = _PdfPages(said=f"its pages could not be drawn: {error.what}", blame=Visibility.CRASHED)
        found: list[Exhibit] = []
        if with_text and drawn.text.strip():
            found.append(Exhibit.of_text(drawn.text[:TEXT], f"{name}, its text"))
        for n, page in drawn.pages.items():
            kind = "image/jpeg" if page.startswith(b"\xff\xd8") else "image/png"
            found.append(Exhibit.of_picture(page, f"{name}, page {n}", mime=kind))
        if drawn.said:
            found.append(Exhibit(Look.TEXT, name, drawn.said, side=UNSEEN, visibility=drawn.blame))
        return found


def _outputs(cell: dict[str, Any]) -> str:
    said = (str(output.get("text", "")) for output in cell.get("outputs", []) if isinstance(output, dict))
    return "\n".join(text for text in said if text)


@dataclass
class _PdfPages:
    """The text and pages that Poppler extracted from a PDF. `said` and `blame` tell why they are incomplete, and whose
    fault that is.
    """

    text: str = ""
    pages: dict[int, bytes] = field(default_factory=dict)
    said: str = ""
    blame: Visibility = Visibility.SHOWN

    def note(self, what: str, done: Completed) -> None:
        """Record that one of Poppler's programs failed."""
        if not done.returncode and not done.timed_out:
            return
        words = done.stderr[-300:].decode("utf-8", "replace").strip()
        self.blame, self.said = Visibility.FILE, f"{what}: {words or f'exit code {done.returncode}'}"
        if done.starved:
            self.blame, self.said = Visibility.STARVED, f"{what}: the server was too busy"
        elif done.timed_out:
            self.said = f"{what} within {SECONDS:g} seconds"
        elif needs.missing(("poppler",)):
            self.blame, self.said = Visibility.MISSING, f"{what}: poppler is missing on the server"
        elif done.returncode < 0 or done.returncode in (126, 127):
            self.blame = Visibility.CRASHED


async def _render_pdf(store: Store, digest: str, count: int) -> _PdfPages:
    """Extract the text of a PDF and render its first pages in a box, as PNG, or as JPEG if that is smaller. Raises
    SandboxError if the box is lost.
    """
    size = await asyncio.to_thread(lambda: store.blobs.path(digest).stat().st_size)
    one = Manifest(entries=(Entry(path="print.pdf", kind=EntryKind.FILE, size=size, blob=digest),))
    config = await asyncio.to_thread(Converter(store, one).config)
    found, last = _PdfPages(), min(count, PAGES)
    async with open_box(config) as box:
        source = f"{IN}/print.pdf"
        words = ["pdftotext", "-layout", "-enc", "UTF-8", source, "-"]
        text = await box.run(words, timeout=FairTimeout(SECONDS))
        found.text = text.stdout.decode("utf-8", "replace")
        found.note("its text cannot be read", text)
        words = ["pdftoppm", "-l", str(last), "-scale-to", "1400", source, f"{WORK}/page"]
        found.note(
            "its pages cannot be drawn", await box.run([words[0], "-png", *words[1:]], timeout=FairTimeout(SECONDS))
        )
        width = len(str(count))
        for number in range(1, last + 1):
            page = f"{WORK}/page-{number:0{width}d}"
            try:
                found.pages[number] = await box.read(f"{page}.png", PICTURE)
            except OSError as error:
                if error.errno != errno.EFBIG:
                    continue
                await box.run([words[0], "-jpeg", "-f", str(number), *words[1:]], timeout=FairTimeout(SECONDS))
                with suppress(OSError):
                    found.pages[number] = await box.read(f"{page}.jpg", PICTURE)
    if len(found.pages) < last and not found.said:
        found.blame, found.said = Visibility.FILE, f"only {len(found.pages)} of its first {last} pages can be drawn"
    return found
