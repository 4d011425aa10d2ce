"""`GET /.worksample/page`: the markup of a view as a page: Markdown, TeX, a notebook's HTML outputs, flash cards."""

from __future__ import annotations

import asyncio
import json
from html import escape
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from worksample.viewing import View

from .anki import faces
from .content import Content, asked, done, link, number, one
from .links import relinked, with_media
from .policies import page_policy
from .refused import ContentRefused, not_found
from .shell import THEMES, shell

if TYPE_CHECKING:
    from worksample.app.content_urls import Grant

LARGEST = 32 << 20
"""Bytes of an artefact that is made a page of."""


async def page(content: Content, grant: Grant, request: Request) -> Response:
    """`name=html`; `n`: which cell of a notebook, or which note of a deck, from 0; `theme`: light or dark."""
    fields = asked(request)
    theme, paths = one(fields, "theme"), fields.get("path", [])
    if theme not in THEMES:
        raise ContentRefused(400, "theme is light or dark")
    if one(fields, "name", "html") != "html":
        raise not_found()
    place = number(fields, "n")
    found = await content.view(grant, paths)
    done(found)
    assert isinstance(found, tuple)
    tree, entry, shown = found
    if shown.kind in _SCRIPTED and request.headers.get("sec-fetch-dest") == "document":
        # As with sites: in a tab of its own nothing would keep it from leading elsewhere.
        raise ContentRefused(403, "outputs of notebooks are shown inside the review app", {"vary": "Sec-Fetch-Dest"})
    above = [*paths[:-1], tree.name(entry.path)]

    def made() -> bytes:
        if shown.kind in ("markdown", "tex"):
            body = relinked(_text(content, shown, "html"), tree, entry.path, above[:-1])
        elif shown.kind == "notebook":
            body = _outputs(json.loads(_text(content, shown, "cells")), place)
        elif shown.kind == "cards":
            body = _cards(json.loads(_text(content, shown, "cards")), place, above)
        else:
            raise not_found()
        kind = "output" if shown.kind == "notebook" else shown.kind
        return shell(body, kind=kind, theme=theme, tells_size=shown.kind in _SCRIPTED)

    body = await asyncio.to_thread(_checked, made)
    policy = page_policy(content.services.config, scripts=shown.kind in _SCRIPTED)
    headers = {"content-security-policy": policy, "cache-control": "private, no-cache", "vary": "Sec-Fetch-Dest"}
    return Response(body, media_type="text/html", headers=headers)


_SCRIPTED = frozenset({"notebook"})
"""Formats that run scripts where they are at home."""


def _checked(made: Any) -> bytes:
    """Artefacts were made in a box that a hostile file may have taken over: anything can be in them."""
    try:
        body: bytes = made()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as e:
        raise ContentRefused(404, "the preview is damaged") from e
    return body


def _text(content: Content, shown: View, name: str) -> str:
    digest = shown.files.get(name)
    if digest is None:
        raise not_found()
    data = content.services.store.blobs.read(digest, LARGEST + 1)
    if len(data) > LARGEST:
        raise ContentRefused(413, "the preview is too large")
    return data.decode("utf-8", "replace")


def _outputs(cells: list[dict[str, Any]], place: int) -> str:
    """The HTML outputs of one cell, in their order."""
    if place >= len(cells):
        raise not_found()
    return "\n".join(f"<div>{o['text']}</div>" for o in cells[place]["outputs"] if o["type"] == "html")


def _cards(deck: dict[str, Any], place: int, paths: list[str]) -> str:
    """All cards of one note, front and back."""
    if place >= len(deck["notes"]):
        raise not_found()
    note = deck["notes"][place]
    media = deck["media"]

    def address(name: str) -> str | None:
        return link("artefact", paths, name=str(media[name])) if name in media else None

    out = []
    for label, front, back in faces(deck["kinds"].get(str(note["kind"]), {}), note):
        for side, markup in (("front", front), ("back", back)):
            if markup:
                title = escape(f"{label}: {side}" if label else side)
                out.append(f'<section class="face"><h2>{title}</h2>{with_media(markup, address)}</section>')
    return "\n".join(out)
