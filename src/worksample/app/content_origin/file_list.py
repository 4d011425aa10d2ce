"""`GET /.worksample/files`: everything that was delivered, or what an archive holds."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from worksample.app.prerendering.view_preparer import Converting
from worksample.app.server.middleware.compression import takes_gzip
from worksample.people.judging.blinding import scrub

from .blob_response import same_tag
from .content_request import DEPTH, Content, asked, find
from .file_tree import SiteTree, packed
from .file_view import converting
from .refusals import not_found

if TYPE_CHECKING:
    from worksample.app.content_origin.capabilities import Grant
    from worksample.viewing import View


async def files(content: Content, grant: Grant, request: Request) -> Response:
    """All entries; gzipped for whoever takes that, which every browser does."""
    paths = asked(request).get("path", [])
    if len(paths) > DEPTH:
        raise not_found()
    tree = await content.root(grant)
    for path in paths:
        entry = find(tree, path)
        shown = await content.services.preparing.view(tree.digest, entry.path)
        if isinstance(shown, Converting):
            return converting(shown)
        if "unpacked" not in shown.files:
            return _sent(request, await asyncio.to_thread(_listed, content, tree, shown), "")
        tree = await content.tree(shown.files["unpacked"], grant.hidden)
    return _sent(request, await asyncio.to_thread(_all, tree), f'"{tree.digest}"' if not grant.hidden else "")


def _all(tree: SiteTree) -> bytes:
    return tree.listed


def _listed(content: Content, tree: SiteTree, shown: View) -> bytes:
    """Of an archive of which nothing was unpacked, its names; there is nothing behind them."""
    if "tree" not in shown.files:
        raise not_found()
    rows = json.loads(content.services.store.blobs.read(shown.files["tree"]))
    plain = [
        {"path": scrub(str(path), tree.hidden), "kind": kind, "size": size, "note": note}
        for path, kind, size, _, note in rows
    ]
    return packed({"entries": plain, "total": len(plain), "bytes": sum(row["size"] for row in plain)})


def _sent(request: Request, data: bytes, tag: str) -> Response:
    headers = {"content-type": "application/json", "vary": "Accept-Encoding"}
    if tag:
        headers |= {"etag": tag, "cache-control": "private, no-cache"}
        if same_tag(request.headers.get("if-none-match"), tag):
            return Response(status_code=304, headers=headers)
    if takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(data, headers=headers | {"content-encoding": "gzip"})
    return Response(gzip.decompress(data), headers=headers)
