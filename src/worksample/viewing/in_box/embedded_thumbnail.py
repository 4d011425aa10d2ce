"""Converter of formats for which no open reader exists: shows the thumbnail stored in the file, and the file's
metadata.
"""

from __future__ import annotations

import io
import re
from typing import Any

from .conversion_job import READERS_FAULTS, ConversionJob, ViewDraft, fault, module

_SENTINEL = bytes.fromhex("1f256d07d43628289d57ca3f9d44102b")
_NAMES = {"ipt": "Inventor", "rvt": "Revit", "ole": "a compound file"}
LARGEST = 16 << 20


def convert(job: ConversionJob) -> ViewDraft:
    module("olefile", "olefile")
    import olefile

    made = ViewDraft("card", meta={"type": _NAMES[job.family], "size": job.size}, badge="card", inspectable=False)
    try:
        with olefile.OleFileIO(str(job.file)) as ole:
            picture = _preview(ole)
            made.meta["streams"] = ["/".join(path)[:100] for path in ole.listdir()[:60]]
            if job.family == "rvt" and ole.exists("BasicFileInfo"):
                made.meta["info"] = _info(ole.openstream("BasicFileInfo").read(1 << 16))
    except READERS_FAULTS as e:
        raise fault(e, "the file") from e
    kept = save_picture(job, picture) if picture else None
    if kept is not None:
        made.files["thumbnail"], made.badge = kept, "thumbnail only"
        made.problem = f"no open program reads {_NAMES[job.family]}: only the picture that it was saved with is shown"
    else:
        made.problem = f"no open program reads {_NAMES[job.family]}, and it was saved without a picture"
    return made


def _preview(ole: Any) -> bytes | None:
    """Return the thumbnail of a compound file."""
    for name in ("RevitPreview4.0", "Preview.png", "Thumbnail"):
        if ole.exists(name):
            return picture_in(ole.openstream(name).read(LARGEST))
    if ole.exists("\x05SummaryInformation"):
        # Property 17 is a picture in one of Windows' clipboard formats; newer programs put a whole PNG there.
        found = picture_in(ole.openstream("\x05SummaryInformation").read(LARGEST))
        if found:
            return found
    for path in ole.listdir()[:500]:
        if ole.get_size(path) <= LARGEST and re.search("preview|thumb|image", "/".join(path), re.I):
            found = picture_in(ole.openstream(path).read(LARGEST))
            if found:
                return found
    return None


def picture_in(data: bytes) -> bytes | None:
    """Return the bytes from the start of the first PNG or JPEG in the data."""
    starts = [at for at in (data.find(b"\x89PNG\r\n\x1a\n"), data.find(b"\xff\xd8\xff")) if at >= 0]
    return data[min(starts) :] if starts else None


def save_picture(job: ConversionJob, data: bytes) -> str | None:
    """Write a picture as an artefact and return the artefact. The picture is re-encoded, so that only its pixels
    remain. Return None if the data is not a picture.
    """
    from PIL import Image, ImageFile

    Image.MAX_IMAGE_PIXELS = 20_000_000
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.convert("RGB").save(job.out / "thumbnail.png", "PNG")
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, Image.DecompressionBombError, Warning):
        return None
    return job.output_path(job.out / "thumbnail.png")


def _info(data: bytes) -> str:
    """Return Revit's version. The path and user name beside it are dropped, because evaluators judge blindly."""
    text = data.decode("utf-16-le", "ignore")
    found = re.search(r"(?:Format:|Autodesk Revit)\s*(20\d\d)", text) or re.search(r"\b(20[12]\d)\b", text)
    return f"Revit {found.group(1)}" if found else ""


def dwg_picture(job: ConversionJob) -> str | None:
    """Write the preview picture of a DWG file as an artefact. The preview stands after a sentinel, whose offset is at
    byte 13. Records of kind 6 are PNG, records of kind 2 are bitmaps.
    """
    with job.file.open("rb") as f:
        f.seek(13)
        f.seek(int.from_bytes(f.read(4), "little"))
        if f.read(16) != _SENTINEL:
            return None
        f.seek(4, 1)
        count = f.read(1)
        for _ in range(count[0] if count else 0):
            record = f.read(9)
            if len(record) < 9:
                return None
            kind, at, size = record[0], int.from_bytes(record[1:5], "little"), int.from_bytes(record[5:9], "little")
            if kind in (2, 6) and size <= LARGEST:
                f.seek(at)
                data = f.read(size)
                return save_picture(job, data if kind == 6 else _bitmap(data))
    return None


def _bitmap(data: bytes) -> bytes:
    """Return a bitmap with the file header that DWG leaves out."""
    header = int.from_bytes(data[:4], "little")
    bits, used = int.from_bytes(data[14:16], "little"), int.from_bytes(data[32:36], "little")
    colours = used or (1 << bits if bits <= 8 else 0)
    offset = 14 + header + 4 * colours
    return b"BM" + (14 + len(data)).to_bytes(4, "little") + b"\0\0\0\0" + offset.to_bytes(4, "little") + data
