"""Reader of texts and metadata in untrusted files. It prints a JSON line for each file, with all that could be read.

Standard input: `{"in": folder, "files": [[number, quoted path], ...]}`. Each line of output:
`[number, {"family", "problem", "text", "meta": {field: text}, "unread"}]`. `unread` names the parts of the file that
were not read.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEXT_LIMIT = 200_000
"""The number of characters that are read of a file's text."""
FIELD_LIMIT = 2_000
PART_LIMIT, PARTS_LIMIT, UNPACKED_LIMIT = 8 << 20, 400, 64 << 20
"""Limits for a packed document: bytes of one part, number of parts, bytes of all parts."""
_ESCAPE = re.compile(rb"%([0-9A-F]{2})")
_TAG = re.compile(r"<[^>]{0,5000}>")
_BLOCK = re.compile(r"</(?:w:p|a:p|text:p|row|si|p|div|li|tr|h\d)>|<(?:br|w:br|w:tab)\b[^>]{0,200}/?>")
_BODY = re.compile(
    r"(?:word/(?:document|header\d*|footer\d*|comments|footnotes)|ppt/(?:slides|notesSlides|comments)/[^/]+"
    r"|xl/(?:sharedStrings|comments\d*|worksheets/[^/]+)|content)\.xml"
)
_PROPERTY = re.compile(r"<(?:\w+:)?(\w+)(?:\s[^>]{0,500})?>([^<]{1,2000})</")
_AUTHOR_ATTRIBUTE = re.compile(r"(?:w:author|w:initials|name|userId|displayName)=\"([^\"]{1,200})\"")
_STRINGS = re.compile(rb"(?:[\x20-\x7e]\x00){4,}|[\x20-\x7e]{5,}")
_XMP = re.compile(rb"<x:xmpmeta.{0,200000}?</x:xmpmeta>", re.S)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'"}
_TEXT_FAMILIES = frozenset({"text", "markdown", "tex", "table", "site", "notebook", "svg", "step", "ifc"})


def read_file(file: Path, name: str, path: str) -> dict[str, Any]:
    """Read one file; return its entry of the output."""
    job_of, sniff, decode = (
        importlib.import_module(f"in_box.{name}") for name in ("conversion_job", "format_detection", "text_encoding")
    )

    job = job_of.ConversionJob(
        file, name, path, folder=file.parent, out=file.parent, work=file.parent, size=file.stat().st_size
    )
    found: dict[str, Any] = {"family": "", "problem": "", "text": "", "meta": {}, "unread": ""}
    try:
        family = str(sniff.sniff(job))
    except job_of.Unreadable as e:
        return {**found, "family": "protected", "problem": str(e)}
    found["family"] = family
    if family == "empty":
        found["problem"] = "it is empty"
    elif family in _TEXT_FAMILIES:
        decoded = decode.decode(job.head(4 * TEXT_LIMIT), whole=False) or ""
        found["text"] = (markup_text(decoded) if family in ("site", "svg") else decoded)[:TEXT_LIMIT]
        found["unread"] = "the rest of a long text" if job.size > 4 * TEXT_LIMIT else ""
    elif family == "pdf":
        _read_pdf(file, found)
    elif zipfile.is_zipfile(file) or job.head(4) == b"PK\3\4":
        _read_archive(file, found, office=family in ("office", "workbook"))
    elif family in ("office", "workbook", "ole"):
        found["text"], found["unread"] = (
            printable_runs(job.head(8 << 20)),
            "most of it (of this old format, only single words are read)",
        )
    elif family in ("image", "raster", "psd"):
        _read_picture(file, found)
    else:
        found["unread"] = "its sound, images or drawings"
        found["problem"] = "its format is unknown" if family == "card" else ""
    return found


def markup_text(markup: str) -> str:
    """Return the text of markup, without parsing it."""
    text = _TAG.sub(" ", _BLOCK.sub("\n", markup))
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return re.sub(r"[ \t]{2,}", " ", text)


def printable_runs(data: bytes) -> str:
    """Return the runs of printable characters in binary data, with one or two bytes for each character."""
    runs = (m[0].decode("utf-16-le" if b"\0" in m[0] else "ascii", "ignore") for m in _STRINGS.finditer(data))
    return "\n".join(runs)[:TEXT_LIMIT]


def _read_pdf(file: Path, found: dict[str, Any]) -> None:
    job = importlib.import_module("in_box.conversion_job")
    try:
        done = job.run(["pdftotext", "-q", "-enc", "UTF-8", str(file), "-"], seconds=60)
        found["text"] = done.out[: 4 * TEXT_LIMIT].decode("utf-8", "replace")[:TEXT_LIMIT]
        if not done.ok:
            found["problem"] = "it cannot be opened"
        elif not found["text"].strip():
            found["unread"] = "its pages (they are images)"
    except job.ConverterFault as error:
        missing = shutil.which("pdftotext") is None
        found["unread"] = f"its text ({'poppler-utils is not installed' if missing else error})"
    except job.Heavy as error:
        found["unread"] = f"its text ({error})"
    try:
        import pikepdf
    except ImportError:
        found["unread"] = found["unread"] or "its metadata (the extra `viewers` is not installed)"
        return
    try:
        with pikepdf.open(file) as pdf:
            pages: Any = pdf.trailer.get("/Info", {})
            for key in list(pages.keys())[:50]:
                add_metadata(found, str(key).lstrip("/"), str(pages[key]))
    except (pikepdf.PdfError, pikepdf.PasswordError, ValueError, RuntimeError, AttributeError):
        found["problem"] = found["problem"] or "it cannot be opened"
    with file.open("rb") as f:
        for packet in _XMP.findall(f.read(32 << 20))[:5]:
            for field, text in _PROPERTY.findall(packet.decode("utf-8", "replace"))[:100]:
                add_metadata(found, field, text)


def add_metadata(found: dict[str, Any], field: str, text: str) -> None:
    """Add a metadata field. Values of the same field are joined by line breaks."""
    text = text.replace("\0", "").strip()[:FIELD_LIMIT]
    if text and len(found["meta"]) < 100:
        before = found["meta"].get(field)
        found["meta"][field] = text if before in (None, text) else f"{before}\n{text}"[:FIELD_LIMIT]


def _read_archive(file: Path, found: dict[str, Any], *, office: bool) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            names = [info.filename for info in archive.infolist()]
            if not office:
                found["text"], found["unread"] = (
                    "\n".join(names)[:TEXT_LIMIT],
                    "the packed files (only their names are read)",
                )
                if any(info.flag_bits & 1 for info in archive.infolist()):
                    found["problem"] = "it is protected by a password"
                return
            for name, data in _archive_parts(archive):
                markup = data.decode("utf-8", "replace")
                if name.startswith("docProps/") or name == "meta.xml":
                    for field, text in _PROPERTY.findall(markup)[:100]:
                        add_metadata(found, field, text)
                else:
                    found["text"] = (found["text"] + "\n" + markup_text(markup))[:TEXT_LIMIT]
                    for text in dict.fromkeys(_AUTHOR_ATTRIBUTE.findall(markup)):
                        add_metadata(found, "author", text)
            pictures = any(name.startswith(("word/media/", "ppt/media/", "xl/media/", "Pictures/")) for name in names)
            found["unread"] = "the pictures in it" if pictures else ""
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, RuntimeError, EOFError, KeyError):
        found["problem"] = "it cannot be unpacked"


def _archive_parts(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    left = UNPACKED_LIMIT
    wanted = [i for i in archive.infolist() if _BODY.fullmatch(i.filename) or i.filename.startswith("docProps/")
              or i.filename == "meta.xml"]  # fmt: skip
    for info in wanted[:PARTS_LIMIT]:
        if info.filename.endswith((".jpeg", ".png", ".emf", ".wmf")) or left <= 0:
            continue
        with archive.open(info) as f:
            data = f.read(min(PART_LIMIT, left))
        left -= len(data)
        yield info.filename, data


def _read_picture(file: Path, found: dict[str, Any]) -> None:
    found["unread"] = "the image itself"
    try:
        from PIL import ExifTags, Image
    except ImportError:
        return
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(file) as picture:
            exif = picture.getexif()
            fields = {ExifTags.TAGS.get(n, str(n)): value for n, value in exif.items()}
            gps = exif.get_ifd(ExifTags.IFD.GPSInfo)
            fields |= {ExifTags.TAGS.get(n, str(n)): value for n, value in exif.get_ifd(ExifTags.IFD.Exif).items()}
            fields |= {str(n): value for n, value in picture.info.items() if isinstance(value, str)}
            if gps:
                fields["GPS"] = " ".join(str(value) for value in gps.values())
            for field, value in list(fields.items())[:200]:
                text = value.decode("latin-1", "replace") if isinstance(value, bytes) else str(value)
                if len(text) <= FIELD_LIMIT and text.isprintable():
                    add_metadata(found, str(field), text)
    except (OSError, ValueError, SyntaxError, KeyError, TypeError, AttributeError, EOFError, IndexError, MemoryError):
        found["problem"] = "it cannot be opened"


def main() -> None:
    """Read the files listed on standard input and write their entries to standard output.

    Libraries may print to standard output, so it is redirected to standard error, and the entries go to a duplicate of
    the original descriptor.
    """
    order = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(2, 1)
    folder = os.fsencode(order["in"])
    for number, path in order["files"]:
        raw = _ESCAPE.sub(lambda m: bytes([int(m.group(1), 16)]), path.encode())
        file = Path(os.fsdecode(os.path.join(folder, raw)))  # noqa: PTH118 - bytes
        name = raw.rsplit(b"/", 1)[-1].decode("utf-8", "replace")
        answers.write(json.dumps([number, read_file(file, name, path)], default=str) + "\n")
        answers.flush()
