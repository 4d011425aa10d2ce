"""Rewriting of links in rendered markup: links to delivered files get addresses on this host, others become text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from urllib.parse import unquote

from worksample.viewing.views import resolve_beside

from .content_request import link
from .file_tree import FileTree
from .media_types import extension

_TARGET = re.compile(r'(?<=\s)(src|href)="([^"]*)"')
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_RENDERED = frozenset({"md", "markdown", "tex", "ltx"})


def rewrite_links(markup: str, tree: FileTree, path: str, above: list[str]) -> str:
    """Rewrite the markup of the file at a real path. `above`: the shown paths of the archives around it.

    Pictures from outside stay in place, because the policy blocks and counts them. Links to outside become text.
    """

    def place(written: str) -> str | None:
        name = html.unescape(written)
        for form in (name, re.split(r"[?#]", name)[0], unquote(re.split(r"[?#]", name)[0])):
            found = resolve_beside(tree.files, path, form)
            if found is not None:
                return found
        return None

    def rewrite_target(match: re.Match[str]) -> str:
        kind, written = match.groups()
        if written.startswith("#"):
            return match.group()
        outside = _SCHEME.match(written)
        found = None if outside else place(written)
        if found is not None:
            paths = [*above, tree.name(found)]
            page = kind == "href" and extension(found) in _RENDERED
            target = link("page", paths, name="html") if page else link("original", paths)
            return f'{kind}="{html.escape(target)}"'
        return match.group() if kind == "src" else f'data-outside="{written}"'

    return _TARGET.sub(rewrite_target, markup)


def rewrite_media_sources(markup: str, media: Callable[[str], str | None]) -> str:
    """Rewrite media sources in a flash card's markup, quoted in any way. `media`: name -> address, None if absent."""

    def rewrite_target(match: re.Match[str]) -> str:
        name = html.unescape(match["double"] or match["single"] or match["bare"] or "")
        found = media(name) or media(unquote(name))
        return match.group() if found is None else f'src="{html.escape(found)}"'

    return re.sub(
        r"""\bsrc\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'>]+))""",
        rewrite_target,
        markup,
        flags=re.I,
    )
