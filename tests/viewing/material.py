"""Small files of every family, made here, and a store to look at them in."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import sqlite3
import struct
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from worksample.files import scan
from worksample.records import Manifest
from worksample.store import Store
from worksample.viewing import View, prepare


def take(store: Store, folder: Path, files: Mapping[str, bytes | str]) -> Manifest:
    """The files, written below `folder` and taken into the store."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return scan(folder, store.blobs).manifest


def loaded(store: Store, view: View, name: str) -> Any:
    """An artefact that is JSON."""
    return json.loads(store.blobs.read(view.files[name]))


def picture(form: str, mode: str = "RGB", size: tuple[int, int] = (40, 20), **options: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size).save(out, form, **options)
    return out.getvalue()


def packed(files: Mapping[str, bytes | str], **options: Any) -> bytes:
    """A ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def database(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> bytes:
    with sqlite3.connect(path) as connection:
        for statement, values in statements:
            connection.execute(statement, values)
    connection.close()
    data = path.read_bytes()
    path.unlink()
    return data


def film(folder: Path, name: str, *options: str) -> bytes:
    """One second of a test picture with a tone."""
    words = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=d=1:s=160x120:r=10"]
    words += ["-f", "lavfi", "-i", "sine=d=1", "-pix_fmt", "yuv420p", *options, str(folder / name)]
    subprocess.run(words, check=True)
    return (folder / name).read_bytes()


def tone(folder: Path, name: str, *options: str) -> bytes:
    words = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=d=1", *options, str(folder / name)]
    subprocess.run(words, check=True)
    return (folder / name).read_bytes()


def workbook(**sheets: list[list[Any]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def pdf(pages: int = 1) -> bytes:
    out = io.BytesIO()
    first, *rest = (Image.new("RGB", (100, 50)) for _ in range(pages))
    first.save(out, "PDF", save_all=True, append_images=rest)
    return out.getvalue()


def docx(text: str) -> bytes:
    start = "http://schemas.openxmlformats.org"
    word = f'xmlns:w="{start}/wordprocessingml/2006/main"'
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = (
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override \
PartName="/word/document.xml" ContentType="{kind}"/>'
    )
    relation = f'<Relationship Id="r1" Type="{start}/officeDocument/2006/relationships/officeDocument" \
Target="word/document.xml"/>'
    body = f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    return packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{start}/package/2006/content-types">{types}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{start}/package/2006/relationships">{relation}</Relationships>',
            "word/document.xml": f"<w:document {word}><w:body>{body}</w:body></w:document>",
        }
    )


def slides(*titles: str) -> bytes:
    """A flat OpenDocument presentation."""
    names = ("office", "drawing", "text", "svg-compatible")
    spaces = " ".join(
        f'xmlns:{n.partition("-")[0].replace("drawing", "draw")}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"'
        for n in names
    )
    frame = (
        '<draw:frame svg:width="9cm" svg:height="3cm"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
    )
    pages = "".join(f"<draw:page>{frame.format(title)}</draw:page>" for title in titles)
    kind = 'office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.presentation"'
    body = f"<office:body><office:presentation>{pages}</office:presentation></office:body>"
    return f'<?xml version="1.0"?><office:document {spaces} {kind}>{body}</office:document>'.encode()


def song() -> bytes:
    """Three notes of half a second each."""
    import mido  # type: ignore[import-untyped]

    track = mido.MidiTrack()
    for note in (60, 64, 67):
        track.append(mido.Message("note_on", note=note, velocity=64, time=0))
        track.append(mido.Message("note_off", note=note, velocity=64, time=480))
    out = io.BytesIO()
    mido.MidiFile(tracks=[track]).save(file=out)
    return out.getvalue()


def drawing() -> bytes:
    import ezdxf

    document = ezdxf.new()  # type: ignore[attr-defined]
    document.layers.add("walls", color=1)
    document.modelspace().add_line((0, 0), (10, 5), dxfattribs={"layer": "walls"})
    document.modelspace().add_circle((3, 3), 2)
    out = io.StringIO()
    document.write(out)
    return out.getvalue().encode()


def dwg(folder: Path) -> bytes:
    """A line and a circle, of AutoCAD 2000."""
    import ezdwg  # type: ignore[import-untyped]

    document = ezdwg.new()
    document.modelspace().add_line((0, 0), (10, 5))
    document.modelspace().add_circle((3, 3), 2)
    document.save(str(folder / "made.dwg"))
    return (folder / "made.dwg").read_bytes()


def photoshop(folder: Path) -> bytes:
    from psd_tools import PSDImage

    document = PSDImage.frompil(Image.new("RGB", (30, 20), "blue"))
    document.create_pixel_layer(Image.new("RGB", (10, 10), "red"), name="logo")
    document.save(str(folder / "made.psd"))
    return (folder / "made.psd").read_bytes()


def glb(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    head = b"glTF" + (2).to_bytes(4, "little") + (20 + len(text)).to_bytes(4, "little")
    return head + len(text).to_bytes(4, "little") + b"JSON" + text


TRIANGLE = {
    "asset": {"version": "2.0"},
    "scene": 0,
    "scenes": [{"nodes": [0]}],
    "nodes": [{"mesh": 0, "translation": [10, 0, 0], "scale": [2, 2, 2]}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "accessors": [{"count": 3, "componentType": 5126, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
}


def sketchup() -> bytes:
    """A square of one by one metre."""
    from openskp import create  # type: ignore[import-untyped]

    model = create()
    model.add_face([(0, 0, 0), (1000, 0, 0), (1000, 1000, 0), (0, 1000, 0)])
    return bytes(model.to_bytes())


def seven_zip(folder: Path) -> bytes:
    (folder / "inside.txt").write_text("hello")
    subprocess.run(["bsdtar", "-cf", "made.7z", "--format", "7zip", "inside.txt"], cwd=folder, check=True)
    return (folder / "made.7z").read_bytes()


def locked_pdf() -> bytes:
    """Encrypted under a password that nobody knows."""
    hashes = f"/O <{'4f' * 32}> /U <{'55' * 32}>"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] >>",
        f"<< /Filter /Standard /V 1 /R 2 {hashes} /P -4 >>",
    )
    out, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    trailer = "<< /Size 5 /Root 1 0 R /Encrypt 4 0 R /ID [<31> <31>] >>"
    end = f"xref\n0 5\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(out)}\n%%EOF\n"
    return out + end.encode()


def deck(folder: Path) -> bytes:
    kinds = {"7": {"name": "Basic", "flds": [{"name": "Front"}, {"name": "Back"}], "tmpls": [{"qfmt": "{{Front}}"}]}}
    collection = database(
        folder / "deck.db",
        ("CREATE TABLE col (models, decks)", ()),
        ("INSERT INTO col VALUES (?, ?)", (json.dumps(kinds), json.dumps({"1": {"name": "Rivers"}}))),
        ("CREATE TABLE notes (id, mid, flds, tags)", ()),
        ("INSERT INTO notes VALUES (1, 7, ?, ' africa ')", ('Longest?<img src="nile.png">\x1fNile',)),
    )
    names = json.dumps({"0": "nile.png"})
    return packed({"collection.anki2": collection, "media": names, "0": picture("PNG")})


def compound(streams: Mapping[str, bytes]) -> bytes:
    """An OLE file with these streams, each of whole sectors and long enough to need no small ones."""
    bodies = [data.ljust(4096, b"\0") + bytes(-len(data.ljust(4096, b"\0")) % 512) for data in streams.values()]
    end, used, free = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
    folder = -(-(1 + len(streams)) // 4)
    table = [used, *range(2, 1 + folder), end]
    entries = _named("Root Entry", kind=5, child=1, start=end, size=0)
    for number, (name, body) in enumerate(zip(streams, bodies, strict=True), 1):
        right = number + 1 if number < len(streams) else free
        entries += _named(name, kind=2, right=right, start=len(table), size=len(body))
        first, count = len(table), len(body) // 512
        table += [*range(first + 1, first + count), end]
    assert len(table) <= 128
    table += [free] * (128 - len(table))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    return head + struct.pack("<128I", *table) + entries.ljust(512 * folder, b"\0") + b"".join(bodies)


def _named(name: str, *, kind: int, start: int, size: int, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF) -> bytes:
    text = (name + "\0").encode("utf-16-le")
    links = struct.pack("<HBBIII", len(text), kind, 1, 0xFFFFFFFF, right, child)
    return text.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, size)


def shown(room: Path, folder: Path) -> tuple[Store, dict[str, View]]:
    """The views of a folder's files, but for programs, in a store of their own."""
    shutil.copytree(folder, room / "work", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    store = Store.open(room / "store", create=True)
    return store, asyncio.run(prepare(store, scan(room / "work", store.blobs).manifest))
