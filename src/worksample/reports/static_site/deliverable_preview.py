"""Previews of deliverables in a report. Deliverables are untrusted: text is escaped and shortened, a raster image
becomes a file under a name that the platform chooses.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from pathlib import Path

from worksample.records import Entry, EntryKind, unquote_path
from worksample.store import Store

TEXT_LIMIT = 16 << 10
IMAGE_LIMIT = 8 << 20
VECTOR_LIMIT = 256 << 10
FILES_SHOWN = 200
_MAGIC = {b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg", b"GIF87a": ".gif", b"GIF89a": ".gif"}


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file as the page shows it."""

    path: str
    size: int
    note: str = ""
    preview: str = ""
    image: str = ""
    says: str = ""
    digest: str = ""


def preview_file(store: Store, entry: Entry, site: Path, root: str) -> FilePreview:
    """Preview one entry; an image is written below `site/files/`."""
    path = entry.path
    if entry.kind is not EntryKind.FILE:
        target = f" -> {entry.target}" if entry.target else ""
        return FilePreview(path + target, 0, entry.note, says=f"a {entry.kind.value}, not followed")
    if entry.blob is None:
        return FilePreview(path, entry.size, entry.note, says="not taken in")
    head = store.blobs.read(entry.blob, limit=TEXT_LIMIT)
    shown = FilePreview(path, entry.size, entry.note, digest=entry.blob)
    ending = _image_ending(head)
    if ending and entry.size <= IMAGE_LIMIT:
        name = f"{entry.blob}{ending}"
        target_file = site / "files" / name
        if not target_file.exists():
            target_file.parent.mkdir(exist_ok=True)
            target_file.write_bytes(store.blobs.read(entry.blob))
        return replace(shown, image=f"{root}files/{name}")
    if unquote_path(path).lower().endswith(b".svg") and entry.size <= VECTOR_LIMIT:
        # As a data address in <img> an SVG can run nothing and reach nothing.
        data = base64.b64encode(store.blobs.read(entry.blob)).decode()
        return replace(shown, image=f"data:image/svg+xml;base64,{data}")
    text = _text(head)
    if text is None:
        return replace(shown, says=f"no preview; worksample store cat {entry.blob[:12]} > FILE")
    if entry.size > len(head):
        text += f"\n… ({entry.size - len(head):,} more bytes)"
    return replace(shown, preview=text)


def _image_ending(head: bytes) -> str:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    return next((ending for magic, ending in _MAGIC.items() if head.startswith(magic)), "")


def _text(head: bytes) -> str | None:
    if b"\0" in head:
        return None
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as fault:
        if fault.start >= len(head) - 4:
            return head[: fault.start].decode("utf-8")
        return None
