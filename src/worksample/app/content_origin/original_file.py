"""`GET /.worksample/original`: a file as it was delivered, to look at or to download.

Where the view has a copy that does not say who made it, that copy is given instead: evaluators judge blindly.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from worksample.app.content_origin.blob_response import BlobResponse, attachment
from worksample.app.content_origin.content_request import Content, asked, done, one
from worksample.app.content_origin.file_tree import SiteTree
from worksample.app.content_origin.media_types import by_name
from worksample.app.content_origin.refusals import ContentRefused, not_found
from worksample.app.prerendering.view_preparer import Converting
from worksample.records import Entry, unquote_path

if TYPE_CHECKING:
    from worksample.app.content_origin.capabilities import Grant

BLIND_SECONDS = 20.0
"""How long a request waits for the blind copy; then it is told to come again."""


async def original(content: Content, grant: Grant, request: Request) -> Response:
    """Never as a page: markup comes as text. `download=1` names the file for the disk."""
    fields = asked(request)
    download = one(fields, "download", "0")
    if download not in ("0", "1"):
        raise ContentRefused(400, "download is 0 or 1")
    paths = fields.get("path", [])
    found = await content.follow(grant, paths)
    done(found)
    assert isinstance(found, tuple)
    blobs = content.services.store.blobs
    blind = None
    if found[1].blob is not None and may_identify(await asyncio.to_thread(blobs.read, found[1].blob, HEAD)):
        seen = await content.view(grant, paths, wait=BLIND_SECONDS)
        done(seen)
        assert not isinstance(seen, Converting)
        blind = seen[2].files.get("blind")
    return await sent(content, *found, request, blind=blind, download=download == "1")


async def sent(
    content: Content, tree: SiteTree, entry: Entry, request: Request, *, blind: str | None, download: bool
) -> Response:
    """`blind`: the copy to give instead of the file itself."""
    if entry.blob is None:
        raise not_found()
    digest = blind or entry.blob
    path = await asyncio.to_thread(content.services.store.blobs.path, digest)
    shown = tree.name(entry.path)
    name = unquote_path(shown).rpartition(b"/")[2].decode("utf-8", "replace")
    more = {"content-disposition": attachment(name)} if download else {}
    return BlobResponse(path, by_name(shown), f'"{digest}"', request.headers, more)


_STARTS = (
    b"%PDF", b"PK", b"\xd0\xcf\x11\xe0", b"{", b"<", b"\xef\xbb\xbf", b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF",
    b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"8BPS", b"\0\0\0\x0cjP", b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2",
    b"\xff\xf1", b"\xff\xf9", b"OggS", b"fLaC", b"\x1a\x45\xdf\xa3", b"\x30\x26\xb2\x75", b"FLV", b"FORM", b"glTF",
    b"solid", b"ISO-10303-21", b"999", b"0", b"ply", b"#", b"AutoCAD",
)  # fmt: skip
HEAD = 16
"""Bytes that are looked at."""


def may_identify(head: bytes) -> bool:
    """False only where no blind copy is ever made: serve the file as it is, without waiting for its view."""
    start = head.lstrip(b" \t\r\n")
    return (
        start.startswith(_STARTS)
        or start[:5].lower() == b"solid"
        or start[:3].lower() == b"ply"
        or head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide")
    )
