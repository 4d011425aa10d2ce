"""`GET /.worksample/page`: a view's markup as a page: Markdown, TeX, HTML outputs of notebooks, flash cards."""

from __future__ import annotations

import asyncio
import json
from html import escape
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from worksample.app.content_origin.anki_cards import card_faces
from worksample.app.content_origin.content_request import (
    ContentServices,
    link,
    number_field,
    query_fields,
    require_ready,
    single_field,
)
from worksample.app.content_origin.error_responses import ContentRefused, not_found
from worksample.app.content_origin.link_rewriting import rewrite_links, rewrite_media_sources
from worksample.app.content_origin.security_policies import page_policy
from worksample.viewing import View

if TYPE_CHECKING:
    from worksample.app.content_origin.capability_hosts import Grant

LARGEST = 32 << 20
"""Most bytes of an artefact that is turned into a page."""


async def serve_page(content: ContentServices, grant: Grant, request: Request) -> Response:
    """Serve a page. Query: `name=html`; `n`: the cell of a notebook or note of a deck, from 0; `theme`: light or
    dark.
    """
    fields = query_fields(request)
    theme, paths = single_field(fields, "theme"), fields.get("path", [])
    if theme not in THEMES:
        raise ContentRefused(400, "theme must be light or dark")
    if single_field(fields, "name", "html") != "html":
        raise not_found()
    place = number_field(fields, "n")
    found = await content.view(grant, paths)
    require_ready(found)
    assert isinstance(found, tuple)
    tree, entry, shown = found
    if shown.kind in _SCRIPTED and request.headers.get("sec-fetch-dest") == "document":
        # As with sites: in a separate tab no frame would stop navigation to other hosts.
        raise ContentRefused(
            403, "outputs of notebooks can be opened only inside the review app", {"vary": "Sec-Fetch-Dest"}
        )
    above = [*paths[:-1], tree.name(entry.path)]

    def read_page() -> bytes:
        if shown.kind in ("markdown", "tex"):
            body = rewrite_links(_text(content, shown, "html"), tree, entry.path, above[:-1])
        elif shown.kind == "notebook":
            body = _outputs(json.loads(_text(content, shown, "cells")), place)
        elif shown.kind == "cards":
            body = _cards(json.loads(_text(content, shown, "cards")), place, above)
        else:
            raise not_found()
        kind = "output" if shown.kind == "notebook" else shown.kind
        return html_page(body, kind=kind, theme=theme, tells_size=shown.kind in _SCRIPTED)

    body = await asyncio.to_thread(_check_artefact, read_page)
    policy = page_policy(content.services.config, scripts=shown.kind in _SCRIPTED)
    headers = {"content-security-policy": policy, "cache-control": "private, no-cache", "vary": "Sec-Fetch-Dest"}
    return Response(body, media_type="text/html", headers=headers)


_SCRIPTED = frozenset({"notebook"})
"""Formats whose output may run scripts."""


def _check_artefact(made: Any) -> bytes:
    """Return an artefact's bytes if they are valid. A malicious file may have taken over the box that wrote them."""
    try:
        body: bytes = made()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as e:
        raise ContentRefused(404, "the preview is damaged") from e
    return body


def _text(content: ContentServices, shown: View, name: str) -> str:
    digest = shown.files.get(name)
    if digest is None:
        raise not_found()
    data = content.services.store.blobs.read(digest, LARGEST + 1)
    if len(data) > LARGEST:
        raise ContentRefused(413, "the preview is too large")
    return data.decode("utf-8", "replace")


def _outputs(cells: list[dict[str, Any]], place: int) -> str:
    """Join the HTML outputs of one cell, in order."""
    if place >= len(cells):
        raise not_found()
    return "\n".join(f"<div>{o['text']}</div>" for o in cells[place]["outputs"] if o["type"] == "html")


def _cards(deck: dict[str, Any], place: int, paths: list[str]) -> str:
    """Render all cards of one note, front and back."""
    if place >= len(deck["notes"]):
        raise not_found()
    note = deck["notes"][place]
    media = deck["media"]

    def address(name: str) -> str | None:
        return link("artefact", paths, name=str(media[name])) if name in media else None

    out = []
    for label, front, back in card_faces(deck["kinds"].get(str(note["kind"]), {}), note):
        for side, markup in (("front", front), ("back", back)):
            if markup:
                title = escape(f"{label}: {side}" if label else side)
                out.append(f'<section class="face"><h2>{title}</h2>{rewrite_media_sources(markup, address)}</section>')
    return "\n".join(out)


THEMES = ("", "light", "dark")
STYLE = """
:root{color-scheme:light dark;--text:#1d2330;--back:#fff;--faint:#5c6475;--line:#d5d9e2;--wash:#f3f5f9;--link:#1a56b8}
@media (prefers-color-scheme:dark){:root{--text:#e3e6ed;--back:#15181e;--faint:#9aa3b5;--line:#363c49;--wash:#1f242d;
--link:#86b4ff}}
:root[data-theme=light]{color-scheme:light;--text:#1d2330;--back:#fff;--faint:#5c6475;--line:#d5d9e2;--wash:#f3f5f9;
--link:#1a56b8}
:root[data-theme=dark]{color-scheme:dark;--text:#e3e6ed;--back:#15181e;--faint:#9aa3b5;--line:#363c49;--wash:#1f242d;
--link:#86b4ff}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.6 system-ui,"Liberation Sans",sans-serif}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1.25rem 3rem;overflow-wrap:break-word}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:1.6em 0 .5em}
h1:first-child,h2:first-child{margin-top:0}
a{color:var(--link)}
a[data-outside]{color:inherit;text-decoration:underline dotted}
a[data-outside]::after{content:" (" attr(data-outside) ")";color:var(--faint);font-size:.85em}
img,video,svg{max-width:100%;height:auto}
pre,code{font-family:ui-monospace,"Liberation Mono",monospace;font-size:.9em}
pre{background:var(--wash);padding:.8rem 1rem;overflow:auto;border-radius:4px}
:not(pre)>code{background:var(--wash);padding:.1em .3em;border-radius:3px}
blockquote{margin:1em 0;padding:.1em 1em;border-left:3px solid var(--line);color:var(--faint)}
table{border-collapse:collapse;display:block;overflow:auto;max-width:100%}
th,td{border:1px solid var(--line);padding:.35em .7em;text-align:left}
th{background:var(--wash)}
hr{border:0;border-top:1px solid var(--line)}
math[display=block]{overflow:auto}
body.output main{max-width:none;padding:.5rem}
section.face{border:1px solid var(--line);border-radius:6px;padding:1rem;margin:0 0 1rem}
section.face>h2{font-size:.8rem;font-weight:600;color:var(--faint);margin:0 0 .6rem}
"""
_SIZE = (
    "<script>(function(){function tell(){parent.postMessage({ws:1,type:'size',"
    "height:Math.ceil(document.documentElement.getBoundingClientRect().height)},'*')}"
    "new ResizeObserver(tell).observe(document.documentElement);addEventListener('load',tell)})()</script>"
)
"""A script that tells the surrounding frame the page's height. The page can send false heights, so the frame limits
them.
"""


def html_page(body: str, *, kind: str, theme: str = "", tells_size: bool = False) -> bytes:
    """Build a whole HTML page around `body`. The markup is not escaped: the page's security policy keeps it
    harmless.
    """
    mode = f' data-theme="{escape(theme)}"' if theme else ""
    return (
        f'<!doctype html><html lang="en"{mode}><head><meta charset="utf-8"><title>Preview</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<style>{STYLE}</style></head><body class="{escape(kind)}"><main>{body}</main>'
        f"{_SIZE if tells_size else ''}</body></html>"
    ).encode("utf-8", "replace")
