"""`GET /.worksample/original`: a delivered file, to look at or to download.

If the view has a blind copy, which does not say who made the file, that copy is served: evaluators judge blindly.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from worksample.app.content_origin.blob_response import BlobResponse, attachment
from worksample.app.content_origin.content_request import ContentServices, query_fields, require_ready, single_field
from worksample.app.content_origin.error_responses import ContentRefused, not_found
from worksample.app.content_origin.file_tree import FileTree
from worksample.app.content_origin.media_types import by_name
from worksample.app.prerendering.view_preparer import ViewPending
from worksample.records import Entry, unquote_path

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant

BLIND_SECONDS = 20.0
"""Seconds that a request waits for the blind copy before it gets a 503 with Retry-After."""


async def serve_original(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Serve a file, never as a page: markup is sent as text. `download=1` makes the browser save it."""
    fields = query_fields(request)
    download = single_field(fields, "download", "0")
    if download not in ("0", "1"):
        raise ContentRefused(400, "download must be 0 or 1")
    paths = fields.get("path", [])
    found = await content.follow(grant, paths)
    require_ready(found)
    assert isinstance(found, tuple)
    blobs = content.services.store.blobs
    blind = None
    if found[1].blob is not None and may_identify(await asyncio.to_thread(blobs.read, found[1].blob, HEAD)):
        seen = await content.view(grant, paths, wait=BLIND_SECONDS)
        require_ready(seen)
        assert not isinstance(seen, ViewPending)
        blind = seen[2].files.get("blind")
    return await file_response(content, *found, request, blind=blind, download=download == "1")


async def file_response(
    content: ContentServices, tree: FileTree, entry: Entry, request: Request, *, blind: str | None, download: bool
) -> Response:
    """Build the response. `blind`: digest of the blind copy to serve in place of the file, or None."""
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
"""Bytes at a file's start that `may_identify` looks at."""


def may_identify(head: bytes) -> bool:
    """Tell whether a file's format can name its maker. False: no blind copy is ever made, so serve the file at once."""
    start = head.lstrip(b" \t\r\n")
    return (
        start.startswith(_STARTS)
        or start[:5].lower() == b"solid"
        or start[:3].lower() == b"ply"
        or head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide")
    )
