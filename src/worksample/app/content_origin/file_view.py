"""`GET /.worksample/view` and `/.worksample/artefact`: how a file is shown, and the files that its converter made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.content_origin.blob_response import BlobResponse
from worksample.app.content_origin.content_request import (
    ContentServices,
    link,
    query_fields,
    require_ready,
    single_field,
)
from worksample.app.content_origin.error_responses import not_found
from worksample.app.content_origin.file_tree import FileTree
from worksample.app.content_origin.media_types import by_content
from worksample.app.content_origin.original_file import file_response
from worksample.app.prerendering.view_preparer import ViewPending
from worksample.people.clock import now_in_microseconds
from worksample.people.judging.blinding import scrub
from worksample.viewing import View

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant

PRIVATE = frozenset({"unpacked"})
"""Artefacts that only the server reads: it opens archives by `files` and `path`."""
_AS_THEY_ARE = frozenset({"file", "format", "type"})
"""Fields of `meta` whose values come from the converter and need no scrubbing."""
_PATHS = frozenset({"entry"})


async def serve_view(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Return the view with 200, or 202 while it is being made."""
    paths = query_fields(request).get("path", [])
    found = await content.view(grant, paths)
    if isinstance(found, ViewPending):
        return converting_response(found)
    tree, entry, shown = found
    above = [*paths[:-1], tree.name(entry.path)]
    # Requests blocked after this time belong to this file: the viewer passes it to `blocked`.
    return JSONResponse({**view_body(tree, above, shown), "at": now_in_microseconds()})


def converting_response(state: ViewPending) -> Response:
    body = {"state": "converting", "seconds": round(state.seconds, 1)}
    return JSONResponse(body, 202, headers={"retry-after": "1"})


def view_body(tree: FileTree, paths: list[str], shown: View) -> dict[str, Any]:
    """Return a view as JSON types, with addresses in place of digests. `paths`: the shown paths that lead to the
    file.
    """
    files = {}
    for name, digest in shown.files.items():
        if name == "source":
            files[name] = link("original", paths)
        elif name not in PRIVATE:
            # The address contains the digest, so browsers may cache without limit.
            files[name] = link("artefact", paths, name=name, v=digest[:12])
    return {
        **shown.plain(),
        "files": files,
        "meta": _scrub_meta(tree, shown.meta),
        "problem": scrub(shown.problem, tree.hidden),
    }


def _scrub_meta(tree: FileTree, meta: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in meta.items():
        if name == "beside" and isinstance(value, Mapping):
            # Viewers look names up as the file writes them, so the keys stay unchanged.
            out[name] = {key: tree.name(str(path)) for key, path in value.items()}
        elif name in _PATHS and isinstance(value, str):
            out[name] = tree.name(value)
        else:
            out[name] = scrub_value(value, tree.hidden, name)
    return out


def scrub_value(value: Any, hidden: tuple[str, ...], name: str = "") -> Any:
    """Remove the hidden words from every text in a JSON value."""
    if not hidden:
        return value
    if isinstance(value, str):
        return value if name in _AS_THEY_ARE else scrub(value, hidden)
    if isinstance(value, Mapping):
        return {key: scrub_value(one, hidden, key) for key, one in value.items()}
    return [scrub_value(one, hidden, name) for one in value] if isinstance(value, list | tuple) else value


_NAMES = frozenset({"tree"})
"""Artefacts that list file names, which may contain the agent's name."""


async def serve_artefact(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Return an artefact by its name in the view's `files`."""
    fields = query_fields(request)
    name = single_field(fields, "name")
    found = await content.view(grant, fields.get("path", []))
    require_ready(found)
    assert isinstance(found, tuple)
    tree, entry, shown = found
    digest = shown.files.get(name)
    if digest is None or name in PRIVATE:
        raise not_found()
    if name == "source":
        return await file_response(content, tree, entry, request, blind=shown.files.get("blind"), download=False)
    blobs = content.services.store.blobs
    if name in _NAMES and tree.hidden:
        return await asyncio.to_thread(lambda: _scrubbed_json(blobs.read(digest), tree.hidden))
    path = await asyncio.to_thread(blobs.path, digest)
    kind = by_content(await asyncio.to_thread(blobs.read, digest, 512), name)
    return BlobResponse(path, kind, f'"{digest}"', request.headers)


def _scrubbed_json(data: bytes, hidden: tuple[str, ...]) -> Response:
    return JSONResponse(scrub_value(json.loads(data), hidden))
