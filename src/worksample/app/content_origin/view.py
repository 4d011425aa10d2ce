"""`GET /.worksample/view`: how a file is shown, with addresses in place of digests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from worksample.app.prerendering.preparing import Converting
from worksample.people.clock import wall
from worksample.people.work.blinding import scrub
from worksample.viewing import View

from .content import Content, asked, link
from .tree import SiteTree

if TYPE_CHECKING:
    from worksample.app.content_urls import Grant

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
