"""Blind copies of pictures. Segments and chunks that identify people, places and programs are removed; the pixels stay.

The orientation field stays, because browsers rotate the picture by it.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable

from .blind_tiff import orientation_of, tiff
from .conversion_job import ConversionJob

_RAW = {"dng", "cr2", "nef", "arw", "orf", "rw2", "pef", "srw"}
PNG = b"\x89PNG\r\n\x1a\n"
_PNG_SEEN = {
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"hIST", b"pHYs",
    b"sPLT", b"acTL", b"fcTL", b"fdAT", b"cICP", b"mDCV", b"cLLI",
}  # fmt: skip


def scrub(job: ConversionJob, leaks: list[str]) -> bytes | None:
    data = job.file.read_bytes()
    if job.extension in _RAW:
        leaks.append("a camera's own format keeps what the camera wrote")
        return None
    found = strip_metadata(data)
    if found is None:
        leaks.append("this picture format is not rewritten; it may name its maker")
    return found


def strip_metadata(data: bytes) -> bytes | None:
    """Return a picture without its metadata, or None if its format is unknown. Raises the errors of the format's
    parser.
    """
    for magic, strip in _BY_MAGIC:
        if data.startswith(magic):
            return strip(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return webp(data)
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        from .blind_mp4 import items

        return items(data)
    return None


def jpeg(data: bytes, *, orientation: bool = True) -> bytes:
    """Return a JPEG with only its JFIF segment, colour profile, Adobe's colour transform and scans. Everything else is
    removed, including bytes after the end of the picture.
    """
    if data[:2] != b"\xff\xd8":
        raise ValueError("the file is not a JPEG")
    out, at, turned = [b"\xff\xd8"], 2, 1
    while at < len(data):
        if data[at] != 0xFF:
            raise ValueError("the JPEG is damaged: a marker is missing")
        while data[at + 1] == 0xFF:
            at += 1
        marker = data[at + 1]
        if marker == 0xD9:
            out.append(b"\xff\xd9")
            break
        size = struct.unpack(">H", data[at + 2 : at + 4])[0]
        body, end = data[at + 4 : at + 2 + size], at + 2 + size
        if marker == 0xE1 and body.startswith(b"Exif\0\0"):
            turned = orientation_of(body[6:])
        keep = not (0xE0 <= marker <= 0xEF or marker == 0xFE)
        keep |= marker == 0xE0 and body.startswith(b"JFIF\0")
        keep |= marker == 0xE2 and body.startswith(b"ICC_PROFILE\0")
        keep |= marker == 0xEE and body.startswith(b"Adobe")
        if marker == 0xDA:
            end = _scan_end(data, end)
        if keep:
            out.append(_plain_jfif(data[at:end]) if marker == 0xE0 else data[at:end])
        at = end
    if orientation and turned != 1:
        exif = b"Exif\0\0" + _exif(turned)
        first = 2 if len(out) > 1 and out[1][1] == 0xE0 else 1
        out.insert(first, b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif)
    return b"".join(out)


def _plain_jfif(segment: bytes) -> bytes:
    """Remove the thumbnail that may follow the first sixteen bytes of a JFIF segment."""
    return b"\xff\xe0\x00\x10" + segment[4:16] + b"\0\0" if len(segment) > 18 else segment


def _scan_end(data: bytes, at: int) -> int:
    """Return the position at which the compressed pixels end: at a marker that is neither a stuffed zero nor a
    restart.
    """
    found = _MARKER.search(data, at)
    return found.start() if found else len(data)


_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.S)


def _exif(turned: int) -> bytes:
    """Return an Exif block that contains only the orientation."""
    return b"II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x0112, 3, 1, turned, 0, 0)


def png(data: bytes) -> bytes:
    """Return a PNG with only the chunks that affect how browsers draw it. Bytes after the end of the picture are
    removed.
    """
    out, at = [PNG], len(PNG)
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        end = at + 12 + size
        if kind in _PNG_SEEN:
            out.append(_named_alike(data[at:end]) if kind == b"iCCP" else data[at:end])
        elif kind == b"eXIf" and (turned := orientation_of(data[at + 8 : end - 4])) != 1:
            body = b"eXIf" + _exif(turned)
            out.append(struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body)))
        at = end
        if kind == b"IEND":
            break
    return b"".join(out)


def _named_alike(chunk: bytes) -> bytes:
    """Replace the name of a colour profile by a neutral name."""
    body = b"iCCPprofile\0" + chunk[8:-4].partition(b"\0")[2]
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def webp(data: bytes) -> bytes:
    chunks, at, turned = [], 12, 1
    while at + 8 <= len(data):
        kind, size = data[at : at + 4], struct.unpack("<I", data[at + 4 : at + 8])[0]
        body = data[at + 8 : at + 8 + size]
        if kind == b"EXIF":
            turned = orientation_of(body.removeprefix(b"Exif\0\0"))
        elif kind in (b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"):
            chunks.append((kind, body))
        at += 8 + size + (size & 1)
    out = []
    for kind, body in chunks:
        if kind == b"VP8X":
            body = bytes([(body[0] & ~0x0C) | (0x08 if turned != 1 else 0)]) + body[1:]
        out.append(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) & 1))
    if turned != 1 and chunks and chunks[0][0] == b"VP8X":
        exif = _exif(turned)
        out.append(b"EXIF" + struct.pack("<I", len(exif)) + exif)
    whole = b"WEBP" + b"".join(out)
    return b"RIFF" + struct.pack("<I", len(whole)) + whole


def gif(data: bytes) -> bytes:
    """Remove comments and application blocks from a GIF, except the block that defines its repetition."""
    size = 13 + (3 << ((data[10] & 7) + 1) if data[10] & 0x80 else 0)
    out, at = [data[:size]], size
    while at < len(data):
        if data[at] == 0x3B:
            out.append(b";")
            break
        if data[at] == 0x2C:
            start = at
            at += 10 + (3 << ((data[at + 9] & 7) + 1) if data[at + 9] & 0x80 else 0) + 1
            at = _blocks_end(data, at)
            out.append(data[start:at])
        elif data[at] == 0x21:
            start, kind = at, data[at + 1]
            at = _blocks_end(data, at + 2)
            loops = kind == 0xFF and data[start + 3 : start + 14] in (b"NETSCAPE2.0", b"ANIMEXTS1.0")
            if kind in (0xF9, 0x01) or loops:
                out.append(data[start:at])
        else:
            raise ValueError("the GIF has an unknown block")
    return b"".join(out)


def _blocks_end(data: bytes, at: int) -> int:
    while data[at]:
        at += data[at] + 1
    return at + 1


_PSD_TELLS = {1025, 1028, 1034, 1035, 1058, 1059, 1060, 1061, 1073, 1086}
"""Numbers of Photoshop's image resources that are removed: IPTC, copyright, address, Exif, XMP, digests, version and
print settings.
"""


def psd(data: bytes) -> bytes:
    at = 26
    at += 4 + struct.unpack(">I", data[at : at + 4])[0]
    size = struct.unpack(">I", data[at : at + 4])[0]
    start, end, out = at, at + 4 + size, []
    at += 4
    while at + 12 <= end:
        begin = at
        number = struct.unpack(">H", data[at + 4 : at + 6])[0]
        name = data[at + 6]
        at += 6 + name + 1 + ((name + 1) & 1)
        length = struct.unpack(">I", data[at : at + 4])[0]
        at += 4 + length + (length & 1)
        if number not in _PSD_TELLS:
            out.append(data[begin:at])
    kept = b"".join(out)
    return data[:start] + struct.pack(">I", len(kept)) + kept + data[end:]


def jp2(data: bytes) -> bytes:
    """Remove the top-level boxes `xml ` and `uuid` from a JPEG 2000 file."""
    out, at = [], 0
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if size == 1:
            size = struct.unpack(">Q", data[at + 8 : at + 16])[0]
        end = len(data) if size == 0 else at + size
        if end <= at:
            raise ValueError("a box of the picture has no valid size")
        if kind not in (b"xml ", b"uuid", b"uinf"):
            out.append(data[at:end])
        at = end
    return b"".join(out)


def _keep_unchanged(data: bytes) -> bytes:
    return data


_BY_MAGIC: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\xff\xd8\xff", jpeg),
    (PNG, png),
    (b"GIF8", gif),
    (b"II*\0", tiff),
    (b"MM\0*", tiff),
    (b"II+\0", tiff),
    (b"MM\0+", tiff),
    (b"8BPS", psd),
    (b"\0\0\0\x0cjP  ", jp2),
    # These parts hold only pixels.
    (b"BM", _keep_unchanged),
    (b"\0\0\1\0", _keep_unchanged),
    (b"DDS ", _keep_unchanged),
    (b"qoif", _keep_unchanged),
    (b"\xff\x4f\xff\x51", _keep_unchanged),
)
