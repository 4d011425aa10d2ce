"""Pictures that say who made them in every place that their format has for it, and whether a file still says it."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

WHO = "Zaphod Quillfeather"
XMP = f'<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"><dc:creator>{WHO}</dc:creator></x:xmpmeta>'.encode()


def tells(data: bytes, depth: int = 0) -> bool:
    """Whether the name stands in it: as it is, in UTF-16, in what is packed in it, or in a ZIP."""
    shapes = (WHO.encode(), WHO.encode("utf-16-le"), WHO.encode("utf-16-be"), WHO.encode().hex().upper().encode())
    if any(shape in data for shape in (*shapes, WHO.upper().encode(), b"Quillfeather")):
        return True
    if depth > 3:
        return False
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert not archive.comment
            return any(tells(archive.read(name), depth + 1) for name in archive.namelist())
    at = -1
    while (at := data.find(b"\x78", at + 1)) >= 0:
        if data[at + 1 : at + 2] in (b"\x01", b"\x5e", b"\x9c", b"\xda"):
            try:
                inner = zlib.decompressobj().decompress(data[at:], 1 << 22)
            except zlib.error:
                continue
            if tells(inner, depth + 1):
                return True
    return False


def photograph(size: tuple[int, int] = (48, 32)) -> Image.Image:
    bands = (Image.linear_gradient("L"), Image.radial_gradient("L"), Image.linear_gradient("L"))
    return Image.merge("RGB", bands).resize(size)


def exif(*, turned: int = 1) -> Image.Exif:
    found = Image.Exif()
    found.update({0x010F: WHO, 0x0110: WHO, 0x0131: WHO, 0x013B: WHO, 0x8298: WHO, 0x0112: turned, 0x010E: WHO})
    found.get_ifd(0x8769).update({0x9286: b"ASCII\0\0\0" + WHO.encode(), 0xA430: WHO, 0x927C: WHO.encode()})
    found.get_ifd(0x8825).update({29: "2020:01:01", 27: WHO.encode()})
    return found


def saved(form: str, image: Image.Image | None = None, **options: Any) -> bytes:
    out = io.BytesIO()
    (image or photograph()).save(out, form, **options)
    return out.getvalue()


def jpeg(turned: int = 6, **options: Any) -> bytes:
    options = {"quality": 80, **options}
    data = saved("JPEG", exif=exif(turned=turned), comment=WHO.encode(), xmp=XMP, **options)
    iptc = b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0" + bytes([5 + len(WHO)]) + b"\x1c\x02\x50\0" + bytes([len(WHO)])
    iptc += WHO.encode()
    segment = b"\xff\xed" + struct.pack(">H", len(iptc) + 2) + iptc
    return data[:2] + segment + data[2:] + b"trailer " + WHO.encode()


def png(turned: int = 1) -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", WHO)
    info.add_text("Software", WHO, zip=True)
    info.add_itxt("XML:com.adobe.xmp", XMP.decode(), zip=True)
    return saved("PNG", pnginfo=info, exif=exif(turned=turned).tobytes()) + WHO.encode()


def animation() -> bytes:
    frames = [photograph().quantize(16), photograph().rotate(180).quantize(16)]
    return saved("GIF", frames[0], save_all=True, append_images=frames[1:], comment=WHO.encode(), loop=3, duration=50)


def tiff(**options: Any) -> bytes:
    tags = {269: WHO, 270: WHO, 271: WHO, 272: WHO, 305: WHO, 315: WHO, 316: WHO, 33432: WHO, 700: XMP}
    found = exif()
    found.update(tags)
    pages = [photograph().rotate(90)] if options.pop("pages", 1) > 1 else []
    return saved("TIFF", exif=found, save_all=True, append_images=pages, **options)


def photoshop(folder: Path) -> bytes:
    from psd_tools import PSDImage

    PSDImage.frompil(photograph()).save(folder / "p.psd")
    data = (folder / "p.psd").read_bytes()
    at = 26 + 4 + struct.unpack(">I", data[26:30])[0]
    size = struct.unpack(">I", data[at : at + 4])[0]
    block = b"".join(
        b"8BIM" + struct.pack(">H", n) + b"\0\0" + struct.pack(">I", len(XMP)) + XMP + b"\0" * (len(XMP) & 1)
        for n in (1028, 1058, 1060)
    )
    return data[:at] + struct.pack(">I", size + len(block)) + block + data[at + 4 :]


PICTURES: dict[str, Callable[[Path], bytes]] = {
    "photo.jpg": lambda _: jpeg(),
    "upright.jpg": lambda _: jpeg(1, progressive=True),
    "grey.jpg": lambda _: saved("JPEG", photograph().convert("L"), exif=exif()),
    "figure.png": lambda _: png(),
    "turned.png": lambda _: png(8),
    "shot.webp": lambda _: saved("WEBP", exif=exif(turned=3), xmp=XMP, lossless=True),
    "loop.gif": lambda _: animation(),
    "scan.tif": lambda _: tiff(pages=2),
    "packed.tif": lambda _: tiff(compression="tiff_lzw"),
    "big.tif": lambda _: tiff(big_tiff=True),
    "wide.jp2": lambda _: saved("JPEG2000") + struct.pack(">I4s", len(XMP) + 8, b"xml ") + XMP,
    "layers.psd": photoshop,
    "modern.avif": lambda _: saved("AVIF", exif=exif().tobytes(), xmp=XMP),
}
