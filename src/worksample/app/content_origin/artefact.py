"""`GET /.worksample/artefact`: what a converter made of a file."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .content import Content, asked, done, one
from .original import sent
from .refused import not_found
from .sending import BlobResponse
from .types import by_content
from .view import PRIVATE, clean

if TYPE_CHECKING:
    from worksample.app.content_urls import Grant

_NAMES = frozenset({"tree"})
"""Artefacts that list names of files, which may say who made them."""


async def artefact(content: Content, grant: Grant, request: Request) -> Response:
    """By its name in the view's `files`."""
    fields = asked(request)
    name = one(fields, "name")
    found = await content.view(grant, fields.get("path", []))
    done(found)
    assert isinstance(found, tuple)
    tree, entry, shown = found
    digest = shown.files.get(name)
    if digest is None or name in PRIVATE:
        raise not_found()
    if name == "source":
        return await sent(content, tree, entry, request, blind=shown.files.get("blind"), download=False)
    blobs = content.services.store.blobs
    if name in _NAMES and tree.hidden:
        return await asyncio.to_thread(lambda: _listed(blobs.read(digest), tree.hidden))
    path = await asyncio.to_thread(blobs.path, digest)
    kind = by_content(await asyncio.to_thread(blobs.read, digest, 512), name)
    return BlobResponse(path, kind, f'"{digest}"', request.headers)


def _listed(data: bytes, hidden: tuple[str, ...]) -> Response:
    return JSONResponse(clean(json.loads(data), hidden))
