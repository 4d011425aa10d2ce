"""Web sites: serve a deliverable at all other paths of the content origin."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from worksample.app.prerendering.view_preparer import ViewPending
from worksample.records import Entry, EntryKind, quote_path, unquote_path
from worksample.viewing import find_view

from .blob_response import BlobResponse
from .content_request import ARCHIVE_SECONDS, DEPTH, ContentServices
from .error_responses import ContentRefused, not_found
from .file_tree import FileTree
from .media_types import PAGES, of_site
from .security_policies import site_policy

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant

INDEXES = ("index.html", "index.htm", "Index.html", "INDEX.HTML")
_ARCHIVE = re.compile(r"\.(zip|tar|tgz|gz|bz2|xz|7z|rar|zst)$", re.IGNORECASE)


async def serve_site(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Serve a file by its address, or a folder's index page. Archives are served like folders."""
    if request.headers.get("service-worker") or request.headers.get("sec-fetch-dest") == "serviceworker":
        # A service worker could answer for its origin and replace our policy.
        raise ContentRefused(403, "deliverables may not install service workers")
    raw = request.scope["raw_path"]
    path = _decode_path(raw)
    tree = await content.root(grant)
    for start in ("", *_bases(tree, request)):
        found = await _lookup(content, tree, f"{start}/{path}" if start and path else start or path)
        if found is None:
            continue
        within, entry, is_folder = found
        if start:
            return _redirect(request, f"{start}/{path}")
        if is_folder and not raw.endswith(b"/"):
            return _redirect(request, path + "/")
        return await _file_response(content, within, entry, request)
    raise not_found()


def _decode_path(raw: bytes) -> str:
    """Return the address as a quoted path without first and last slash. Raises ContentRefused if no file can have
    it.
    """
    if re.search(rb"%(2[fF]|00)", raw) or b"\0" in raw:
        raise not_found()
    data = unquote_to_bytes(raw.removeprefix(b"/").removesuffix(b"/"))
    if data and any(step in (b"", b".", b"..") for step in data.split(b"/")):
        raise not_found()
    return quote_path(data)


async def _lookup(
    content: ContentServices, tree: FileTree, path: str, depth: int = 0
) -> tuple[FileTree, Entry, bool] | None:
    """Find the tree and file at a path; the third value is True for a folder's index page. None if nothing is there."""
    entry = tree.find(path)
    if entry is not None and entry.kind is EntryKind.FILE:
        return (tree, entry, False) if entry.blob is not None else None
    folder = tree.folder(path)
    if folder is not None:
        first = _page(tree, folder)
        return None if first is None else (tree, first, True)
    steps = path.split("/")
    for count in range(1, len(steps) + 1 if depth < DEPTH else 0):
        archive = tree.find("/".join(steps[:count]))
        if archive is None or archive.kind is not EntryKind.FILE or not _ARCHIVE.search(archive.path):
            continue
        inner = await content.unpacked_tree(tree, archive, wait=ARCHIVE_SECONDS)
        if isinstance(inner, ViewPending):
            raise ContentRefused(503, "the archive is still being unpacked; try again shortly", {"retry-after": "1"})
        return await _lookup(content, inner, "/".join(steps[count:]), depth + 1)
    return None


def _page(tree: FileTree, folder: str) -> Entry | None:
    """Find the index page of a folder, given by its real path."""
    for name in INDEXES:
        entry = tree.entries.get(f"{folder}/{name}" if folder else name)
        if entry is not None and entry.blob is not None:
            return entry
    return None


def _bases(tree: FileTree, request: Request) -> list[str]:
    """Return folders that may be the root of a site with absolute links: around the referring page, then index
    pages.
    """
    said = request.headers.get("referer", "")
    host = request.headers.get("host", "")
    out: list[str] = []
    try:
        parts = urlsplit(said)
        if said and parts.netloc.lower() == host.lower() and not parts.path.startswith("/.worksample/"):
            folder = _decode_path(parts.path.encode("ascii").rpartition(b"/")[0])
            while folder:
                out.append(folder)
                folder = folder.rpartition("/")[0]
    except (ValueError, ContentRefused):
        out = []
    return list(dict.fromkeys([*out, *(tree.name(folder) for folder in tree.sites if folder)]))[:40]


def _redirect(request: Request, path: str) -> Response:
    """Redirect to the address with a final slash, so that relative links work; always on this host."""
    target = "/" + quote(unquote_path(path.removesuffix("/")), safe="/") + ("/" if path.endswith("/") else "")
    query = request.scope["query_string"].decode("latin-1")
    return RedirectResponse(target + (f"?{query}" if query else ""), 307, headers={"cache-control": "no-store"})


async def _file_response(content: ContentServices, tree: FileTree, entry: Entry, request: Request) -> Response:
    blobs = content.services.store.blobs
    assert entry.blob is not None
    # Serve the blind copy if a view exists; a site's files do not wait for one.
    made = await asyncio.to_thread(find_view, content.services.store, tree.manifest, tree.digest, entry.path)
    digest = (made.files.get("blind") if made is not None else None) or entry.blob
    path = await asyncio.to_thread(blobs.path, digest)
    kind, coding = of_site(entry.path, await asyncio.to_thread(blobs.read, entry.blob, 4096))
    is_page = kind.partition(";")[0] in PAGES
    if is_page and request.headers.get("sec-fetch-dest") == "document":
        # In a separate tab no frame would stop navigation to other hosts.
        raise ContentRefused(
            403, "a deliverable's pages can be opened only inside the review app", {"vary": "Sec-Fetch-Dest"}
        )
    more = {
        "content-security-policy": site_policy(content.services.config),
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "private, max-age=600",
    }
    if is_page:
        more["vary"] = "Sec-Fetch-Dest"
    if coding:
        more["content-encoding"] = coding
    return BlobResponse(path, kind, f'"{digest}"', request.headers, more, ranges=not coding)
