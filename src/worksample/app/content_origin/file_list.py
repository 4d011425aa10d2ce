"""`GET /.worksample/files`: the list of all delivered files, or of the files in an archive."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from worksample.app.prerendering.view_preparer import ViewPending
from worksample.app.server.middleware.compression import takes_gzip
from worksample.people.judging.blinding import scrub

from .blob_response import same_tag
from .content_request import DEPTH, ContentServices, find_entry, query_fields
from .error_responses import not_found
from .file_tree import FileTree, gzip_json
from .file_view import converting_response

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant
    from worksample.viewing import View


async def serve_file_list(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Return all entries, gzipped if the client accepts it."""
    paths = query_fields(request).get("path", [])
    if len(paths) > DEPTH:
        raise not_found()
    tree = await content.root(grant)
    for path in paths:
        entry = find_entry(tree, path)
        shown = await content.services.view_preparer.view(tree.digest, entry.path)
        if isinstance(shown, ViewPending):
            return converting_response(shown)
        if "unpacked" not in shown.files:
            return _list_response(request, await asyncio.to_thread(_list_archive, content, tree, shown), "")
        tree = await content.tree(shown.files["unpacked"], grant.hidden)
    return _list_response(
        request, await asyncio.to_thread(_list_all, tree), f'"{tree.digest}"' if not grant.hidden else ""
    )


def _list_all(tree: FileTree) -> bytes:
    return tree.gzipped_list


def _list_archive(content: ContentServices, tree: FileTree, shown: View) -> bytes:
    """List the names in an archive that was not unpacked. These entries cannot be opened."""
    if "tree" not in shown.files:
        raise not_found()
    rows = json.loads(content.services.store.blobs.read(shown.files["tree"]))
    plain = [
        {"path": scrub(str(path), tree.hidden), "kind": kind, "size": size, "note": note}
        for path, kind, size, _, note in rows
    ]
    return gzip_json({"entries": plain, "total": len(plain), "bytes": sum(row["size"] for row in plain)})


def _list_response(request: Request, data: bytes, tag: str) -> Response:
    headers = {"content-type": "application/json", "vary": "Accept-Encoding"}
    if tag:
        headers |= {"etag": tag, "cache-control": "private, no-cache"}
        if same_tag(request.headers.get("if-none-match"), tag):
            return Response(status_code=304, headers=headers)
    if takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(data, headers=headers | {"content-encoding": "gzip"})
    return Response(gzip.decompress(data), headers=headers)
