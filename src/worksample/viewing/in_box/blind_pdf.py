"""Blind copies of PDF files, without /Info, XMP, IDs, private data of programs, and the names of annotators and
cameras.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from .blind_picture import jpeg
from .conversion_job import ConversionJob, MissingConverter, Unreadable

_GONE = ("/Metadata", "/PieceInfo", "/LastModified", "/CreatorInfo", "/AAPL:Keywords", "/Thumb")
_SIGNED = ("/Name", "/ContactInfo", "/Location", "/Reason", "/Prop_Build")
OBJECTS = 300_000
LARGEST = 64 << 20
"""Maximum bytes of an embedded picture from which metadata is removed."""


def scrub(job: ConversionJob, leaks: list[str]) -> bytes:
    return scrub_pdf(job.file, leaks)


def scrub_pdf(path: Path, leaks: list[str]) -> bytes:
    """Return a PDF with the same pages without metadata. Compressed streams are not changed. Raises Unreadable if the
    PDF cannot be read; MissingConverter if the library for this is missing.
    """
    try:
        import pikepdf
    except ImportError as e:
        raise MissingConverter("pikepdf") from e
    try:
        with pikepdf.open(path) as pdf:
            if "/Info" in pdf.trailer:
                del pdf.trailer["/Info"]
            if len(pdf.objects) > OBJECTS:
                raise Unreadable("the PDF has too many objects to be anonymised")
            authors: dict[str, str] = {}
            for thing in pdf.objects:
                _object(pikepdf, thing, authors)
            names: Any = pdf.Root.get("/Names", {})
            if "/EmbeddedFiles" in names:
                leaks.append("files that are attached to the PDF keep what they say of their makers")
            out = io.BytesIO()
            pdf.save(
                out, static_id=True, compress_streams=False, recompress_flate=False,
                stream_decode_level=pikepdf.StreamDecodeLevel.none, fix_metadata_version=False,
                encryption=False if pdf.is_encrypted else None,
            )  # fmt: skip
            return out.getvalue()
    except (pikepdf.PdfError, pikepdf.PasswordError) as e:
        raise Unreadable("the PDF cannot be rewritten without its metadata") from e


def _object(pikepdf: Any, thing: Any, authors: dict[str, str]) -> None:
    stream = isinstance(thing, pikepdf.Stream)
    if not stream and not isinstance(thing, pikepdf.Dictionary):
        if isinstance(thing, pikepdf.Array):
            for inner in thing:
                if isinstance(inner, pikepdf.Dictionary) and not inner.is_indirect:
                    _object(pikepdf, inner, authors)
        return
    for key in _GONE:
        if key in thing:
            del thing[key]
    # Markup annotations have the annotator's name in /T; in form fields it is the field's own.
    if "/T" in thing and "/Rect" in thing and thing.get("/Subtype") != "/Widget":
        thing["/T"] = pikepdf.String(authors.setdefault(str(thing["/T"]), f"Author {len(authors) + 1}"))
    if thing.get("/Type") in ("/Sig", "/DocTimeStamp"):
        for key in _SIGNED:
            if key in thing:
                del thing[key]
    if stream and thing.get("/Filter") == "/DCTDecode" and int(thing.get("/Length", 0)) <= LARGEST:
        raw = thing.read_raw_bytes()
        # Pages place pictures by a matrix: PDF ignores a camera's orientation.
        clean = jpeg(raw, orientation=False)
        if clean != raw:
            thing.write(clean, filter=pikepdf.Name.DCTDecode, decode_parms=thing.get("/DecodeParms"))
    for key in list(thing.keys()):
        inner = thing[key]
        if isinstance(inner, pikepdf.Dictionary | pikepdf.Array) and not inner.is_indirect and key != "/Parent":
            _object(pikepdf, inner, authors)
