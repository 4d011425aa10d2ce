"""Detection of a file's format by content; the name decides only if the content cannot."""

from __future__ import annotations

import mmap
import re
import zipfile

from .conversion_job import ConversionJob, Unreadable
from .mesh import begins_as_ply, binary_stl
from .text_encoding import decode

_IMAGE = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"\0\0\1\0", b"BM")
_RASTER = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51", b"DDS ", b"qoif")
_MEDIA: tuple[bytes, ...] = (
    b"ID3",
    b"OggS",
    b"fLaC",
    b"\x1a\x45\xdf\xa3",
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    b"FLV\1",
    b"#!AMR",
)
_MEDIA += (b"\0\0\1\xba", b"\0\0\1\xb3", b"caff", b".snd", b"FORM")
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
_OLE = {
    "EncryptedPackage": "protected",
    "RevitPreview4.0": "rvt",
    "UFRxDoc": "ipt",
    "WordDocument": "office",
    "PowerPoint Document": "office",
    "Workbook": "workbook",
    "Book": "workbook",
}
_HTML = re.compile(
    rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*(?:<!doctype\s+html|<html[\s>])", re.I | re.S
)
_SVG = re.compile(rb"<(?:\w+:)?svg[\s>]", re.I)
_BY_NAME = {"md": "markdown", "markdown": "markdown", "tex": "tex", "ltx": "tex", "csv": "table", "tsv": "table"}
_BY_NAME |= {"htm": "site", "html": "site", "obj": "model", "ipynb": "notebook"}
_OFFICE_NAMES = {"docm", "docx", "dotx", "pptx", "pptm", "ppsx", "potx"}


def sniff(job: ConversionJob) -> str:
    """Return the family of formats to which the file belongs. Raises Unreadable if the file is protected."""
    head = job.head(8192)
    if not head:
        return "empty"
    return _binary(job, head) or _text(job, head) or "card"


def _binary(job: ConversionJob, head: bytes) -> str:
    if head.startswith(b"%PDF-") or (b"%PDF-" in head[:1024] and _ends_as_pdf(job)):
        return "pdf"
    if head.startswith(_IMAGE) and not (head.startswith(b"BM") and head[6:10] != b"\0\0\0\0"):
        return "image"
    if head.startswith(_RASTER):
        return "raster"
    if head.startswith(b"8BPS"):
        return "psd"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _compound(job)
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return _zip(job)
    if head.startswith(_PACKED) or head[257:262] == b"ustar":
        return "archive"
    if head.startswith(b"SQLite format 3\0"):
        return "database"
    return _media(head) or _solid(job, head)


def _ends_as_pdf(job: ConversionJob) -> bool:
    """Return whether the end of the file looks like the end of a PDF. PDF readers accept other data before the start of
    a PDF, so the end distinguishes a PDF from a text about PDFs.
    """
    with job.file.open("rb") as f:
        f.seek(max(0, job.size - 2048))
        return b"startxref" in f.read(2048)


def _media(head: bytes) -> str:
    if head.startswith(b"MThd") or (head.startswith(b"RIFF") and head[8:12] == b"RMID"):
        return "midi"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image"
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in (b"avif", b"avis"):
            return "image"
        return "raster" if brand in (b"heic", b"heix", b"mif1", b"msf1", b"heim") else "media"
    sync = (
        head[0] == 0xFF
        and head[1:2] != b"\xfe"
        and len(head) > 3
        and head[1] & 0xE0 == 0xE0
        and head[1] & 0x06
        and head[2] & 0xF0 != 0xF0
    )
    stream = head[0] == 0x47 and head[188:189] == b"\x47" and head[376:377] == b"\x47"
    riff = head.startswith((b"RIFF", b"RF64")) and head[8:12] in (b"WAVE", b"AVI ")
    return "media" if riff or sync or stream or head.startswith(_MEDIA) or head[4:8] in (b"moov", b"mdat") else ""


def _solid(job: ConversionJob, head: bytes) -> str:
    """Return the family of a binary 3D model or drawing."""
    if head.startswith((b"glTF", b"Kaydara FBX Binary", b"3D Geometry File Format ")) or begins_as_ply(head):
        return "model"
    if head.startswith(b"AutoCAD Binary DXF"):
        return "dxf"
    if head[:4] == b"AC10" and head[4:6].isdigit():
        return "dwg"
    if b"S\0k\0e\0t\0c\0h\0U\0p\0" in head[:64]:
        return "skp"
    if head.startswith(b"MM") and len(head) > 16 and int.from_bytes(head[2:6], "little") == job.size:
        return "model"
    if binary_stl(head[:84], job.size, text=job.extension != "stl") is not None:
        return "model"
    return ""


def _compound(job: ConversionJob) -> str:
    """Return the family of a compound file (OLE). The names in its directory are searched without parsing the file."""
    with job.file.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for name, family in _OLE.items():
            # A directory entry holds the name at its start, ended by a NUL, and entries begin at multiples of 128.
            at, needle = -1, name.encode("utf-16-le") + b"\0\0"
            while (at := data.find(needle, at + 1)) >= 0:
                if at % 128 == 0:
                    if family == "protected":
                        raise Unreadable("the file is protected by a password")
                    return family
    return "ole"


def _zip(job: ConversionJob) -> str:
    try:
        with zipfile.ZipFile(job.file) as archive:
            # Some programs write other case or backslashes; readers accept them.
            names = {info.filename.replace("\\", "/").lstrip("/").lower() for info in archive.infolist()}
            kind = (
                archive.read("mimetype")[:100]
                if "mimetype" in names and archive.getinfo("mimetype").file_size < 200
                else b""
            )
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, RuntimeError, EOFError):
        return "archive"
    if names & {"xl/workbook.xml", "xl/workbook.bin"} or kind.startswith(
        b"application/vnd.oasis.opendocument.spreadsheet"
    ):
        return "workbook"
    if names & {"word/document.xml", "ppt/presentation.xml"} or kind.startswith(b"application/vnd.oasis.opendocument."):
        return "office"
    if names & {"collection.anki2", "collection.anki21", "collection.anki21b"}:
        return "deck"
    if any(name.startswith("3d/") and name.endswith(".model") for name in names):
        return "model"
    if job.extension == "skp":
        return "skp"
    return "archive"


def _text(job: ConversionJob, head: bytes) -> str:
    text = decode(head, whole=False)
    if text is None:
        return ""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith("{\\rtf"):
        return "office"
    if start.startswith("<") and "<office:document" in start:
        return "workbook" if "opendocument.spreadsheet" in start else "office"
    if start.startswith("<") and "urn:schemas-microsoft-com:office:spreadsheet" in start:
        return "workbook"
    if start.startswith("<") and re.search(r"<\?mso-application\s+progid=.Word\.Document", start):
        return "office"
    if start.startswith("ISO-10303-21"):
        return "ifc" if re.search(r"FILE_SCHEMA\s*\(\s*\(\s*'IFC", _header(job), re.I) else "step"
    if re.match(r"(?:999\s*\n.*\n\s*)*0\s*\r?\nSECTION\s*\r?\n", start, re.I):
        return "dxf"
    if re.match(r"solid\b", start, re.I) and re.search(r"\bfacet\s+normal\b", _header(job), re.I):
        return "model"
    if start.startswith("; FBX") or (start.startswith("<") and "<COLLADA" in start):
        return "model"
    if start.startswith("{") and job.extension in ("gltf", "json") and '"asset"' in _header(job) and _is_gltf(job):
        return "model"
    if _HTML.match(head):
        return "site"
    if start.startswith("<") and _SVG.search(head) and not re.match(r"<(?!\?|!|svg|\w+:svg)", start, re.I):
        return "svg"
    return _BY_NAME.get(job.extension, "text")


def _header(job: ConversionJob) -> str:
    return job.head(1 << 16).decode("utf-8", "replace")


def _is_gltf(job: ConversionJob) -> bool:
    return job.extension == "gltf" or bool(
        re.search(r'"version"\s*:\s*"2\.', _header(job)) and '"meshes"' in _header(job)
    )
