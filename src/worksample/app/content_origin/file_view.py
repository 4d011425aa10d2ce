"""`GET /.worksample/view`: how a file is shown, with addresses in place of digests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.content_origin.blob_response import BlobResponse
from worksample.app.content_origin.content_request import Content, asked, done, link, one
from worksample.app.content_origin.file_tree import SiteTree
from worksample.app.content_origin.media_types import by_content
from worksample.app.content_origin.original_file import sent
from worksample.app.content_origin.refusals import not_found
from worksample.app.prerendering.view_preparer import Converting
from worksample.people.clock import wall
from worksample.people.judging.blinding import scrub
from worksample.viewing import View

if TYPE_CHECKING:
    from worksample.app.content_origin.capabilities import Grant

PRIVATE = frozenset({"unpacked"})
"""Artefacts that are for the server alone: `files` and `path` lead into archives."""
_AS_THEY_ARE = frozenset({"file", "format", "type"})
"""Fields of `meta` whose words are the converter's."""
_PATHS = frozenset({"entry"})


async def view(content: Content, grant: Grant, request: Request) -> Response:
    """200 with the view, or 202 while it is made."""
    paths = asked(request).get("path", [])
    found = await content.view(grant, paths)
    if isinstance(found, Converting):
        return converting(found)
    tree, entry, shown = found
    above = [*paths[:-1], tree.name(entry.path)]
    # What is blocked from this moment on is this file's: `blocked` is asked with it.
    return JSONResponse({**plain(tree, above, shown), "at": wall()})


def converting(state: Converting) -> Response:
    body = {"state": "converting", "seconds": round(state.seconds, 1)}
    return JSONResponse(body, 202, headers={"retry-after": "1"})


def plain(tree: SiteTree, paths: list[str], shown: View) -> dict[str, Any]:
    """The view as its reader gets it. `paths`: the way to the file, as it is given out."""
    files = {}
    for name, digest in shown.files.items():
        if name == "source":
            files[name] = link("original", paths)
        elif name not in PRIVATE:
            # With the content in its address it may be kept for as long as the browser likes.
            files[name] = link("artefact", paths, name=name, v=digest[:12])
    return {
        **shown.plain(),
        "files": files,
        "meta": _scrubbed(tree, shown.meta),
        "problem": scrub(shown.problem, tree.hidden),
    }


def _scrubbed(tree: SiteTree, meta: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in meta.items():
        if name == "beside" and isinstance(value, Mapping):
            # The keys are how the file itself writes them, by which a viewer finds them.
            out[name] = {key: tree.name(str(path)) for key, path in value.items()}
        elif name in _PATHS and isinstance(value, str):
            out[name] = tree.name(value)
        else:
            out[name] = clean(value, tree.hidden, name)
    return out


def clean(value: Any, hidden: tuple[str, ...], name: str = "") -> Any:
    """Every text in it without these words."""
    if not hidden:
        return value
    if isinstance(value, str):
        return value if name in _AS_THEY_ARE else scrub(value, hidden)
    if isinstance(value, Mapping):
        return {key: clean(one, hidden, key) for key, one in value.items()}
    return [clean(one, hidden, name) for one in value] if isinstance(value, list | tuple) else value


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
