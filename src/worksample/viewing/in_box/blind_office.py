"""Blind copies of office documents. Properties are emptied, people's names are replaced by numbers, and the metadata of
pictures and of the ZIP file is removed.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass, field

from .blind_model import without
from .blind_picture import strip_metadata
from .blind_rtf_and_ole import compound, rich
from .conversion_job import ConversionJob

_START = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CORE = _START + (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
)
_APP = _START + '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"/>'
_CUSTOM = _START + '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"/>'
_META = _START + (
    '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2">'
    "<office:meta/></office:document-meta>"
)
_EMPTIED = {"docprops/core.xml": _CORE, "docprops/app.xml": _APP, "docprops/custom.xml": _CUSTOM, "meta.xml": _META}
_DROPPED = re.compile(r"META-INF/(?:documentsignatures|macrosignatures)\.xml$|_xmlsignatures/(?!origin)", re.I)
_MEDIA = {"png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "jpe"}
_OFFICE = {"docx", "docm", "xlsx", "xlsm", "pptx", "pptm", "odt", "ods", "odp"}
_XML = {"xml", "rels", "vml"}
LARGEST = 512 << 20
"""Maximum unpacked bytes of a document."""
DEEPEST = 3
PARTS = 20_000


def scrub(job: ConversionJob, leaks: list[str]) -> bytes | None:
    data = job.file.read_bytes()
    if data.startswith(b"PK"):
        return scrub_zip(data, leaks)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return compound(data, leaks)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        return rich(data)
    if b"<office:document" in data[:4096]:
        return clean_flat_odf(data)
    leaks.append("this kind of document is not rewritten; it may name its maker")
    return None


@dataclass
class NumberedNames:
    """Numbers that replace people's names, in order of their appearance. Two people get two numbers."""

    known: dict[bytes, str] = field(default_factory=dict)

    def number(self, name: bytes) -> bytes:
        return self.known.setdefault(name, f"Author {len(self.known) + 1}").encode() if name else name


def scrub_zip(data: bytes, leaks: list[str], depth: int = 0) -> bytes:
    """Rewrite an OOXML or ODF document without traces of its maker. Its parts and their order stay. Raises BadZipFile
    if the file is damaged; ValueError if it exceeds a limit.
    """
    people, out, left = NumberedNames(), io.BytesIO(), LARGEST
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        if len(source.infolist()) > PARTS:
            raise ValueError("the document has too many parts")
        for info in source.infolist():
            left -= info.file_size
            if left < 0:
                raise ValueError("the document unpacks to too many bytes")
            if _DROPPED.search(info.filename):
                continue
            part = _part(info.filename, source.read(info), people, leaks, depth)
            fresh = zipfile.ZipInfo(info.filename)
            stored = info.compress_type == zipfile.ZIP_STORED
            fresh.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            target.writestr(fresh, part)
    return out.getvalue()


def _part(name: str, data: bytes, people: NumberedNames, leaks: list[str], depth: int) -> bytes:
    lower = name.lower()
    extension = lower.rpartition(".")[2]
    if lower in _EMPTIED:
        return _EMPTIED[lower].encode()
    if lower.endswith("/meta.xml") or re.fullmatch(r"docprops/(?:core|app|custom)\d*\.xml", lower):
        kind = next((k for k in ("core", "app", "custom") if k in posixpath.basename(lower)), "meta")
        return {"core": _CORE, "app": _APP, "custom": _CUSTOM, "meta": _META}[kind].encode()
    if extension in _XML:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            leaks.append("parts in UTF-16 are not rewritten; they may name their maker")
            return data
        return named_alike(data, people)
    if extension in _MEDIA:
        try:
            return strip_metadata(data) or data
        except (ValueError, IndexError):
            leaks.append("a damaged picture in it was not rewritten")
            return data
    if extension in _OFFICE and data.startswith(b"PK") and depth < DEEPEST:
        return scrub_zip(data, leaks, depth + 1)
    if lower.endswith("vbaproject.bin") or extension == "ole" or "embeddings/" in lower:
        leaks.append("macros and embedded objects keep what they say of their makers")
    if "printersettings" in lower:
        return bytes(len(data))
    return data


_TAG = re.compile(rb"<[A-Za-z][^<>]*>")
_ATTRIBUTE = re.compile(
    rb"(\s(?:[\w.-]+:)?(?:author|initials|userName|userId|displayName|lastModifiedBy|creator|creator-initials|email))"
    rb"(\s*=\s*)(\"[^\"]*\"|'[^']*')"
)
_ELEMENT = re.compile(
    rb"(<((?:[\w.-]+:)?(?:author|creator|initial-creator|creator-initials|printed-by|sender-firstname"
    rb"|sender-lastname|sender-email|sender-company|author-name|author-initials))\b[^<>]*(?<!/)>)([^<]*)(</\2\s*>)"
)
_PATH = re.compile(rb"<(?:[\w.-]+:)?absPath\b[^<>]*/>")
_PRINTER = re.compile(
    rb"(<config:config-item\b[^<>]*config:name=\"(?:PrinterName|PrinterSetup|PrinterIndependentLayout"
    rb"|CurrentDatabaseDataSource)\"[^<>]*>)[^<]*(</config:config-item>)"
)


def named_alike(data: bytes, people: NumberedNames) -> bytes:
    """Replace the names of authors, users and printers in a part of a document by numbers. The text of the document
    stays.
    """

    def attribute(found: re.Match[bytes]) -> bytes:
        value = found.group(3)
        return found.group(1) + found.group(2) + value[:1] + people.number(value[1:-1]) + value[-1:]

    def tag(found: re.Match[bytes]) -> bytes:
        text = _ATTRIBUTE.sub(attribute, found.group())
        if re.match(rb"<(?:[\w.-]+:)?cmAuthor\b", text):
            text = re.sub(rb"(\sname)(\s*=\s*)(\"[^\"]*\"|'[^']*')", attribute, text)
        return text

    data = _PATH.sub(b"", _TAG.sub(tag, data))
    data = _PRINTER.sub(rb"\1\2", data)
    return _ELEMENT.sub(lambda m: m.group(1) + people.number(m.group(3)) + m.group(4), data)


def clean_flat_odf(data: bytes) -> bytes:
    """Remove traces of the maker from a flat ODF file and from the pictures in it."""
    from .blind_embedded_pictures import pictures

    data = without(data, b"<office:meta>", b"</office:meta>")
    return pictures(named_alike(data, NumberedNames()))
