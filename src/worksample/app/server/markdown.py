"""Markdown of briefs, notes and instructions as HTML, without raw HTML and images; links lead to pages and mail
only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_KEPT = 512
_SCHEMES = ("http://", "https://", "mailto:", "#")


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    # An image would cause an outside request; pictures belong to the inputs.
    made.disable("image")
    made.validateLink = _safe  # type: ignore[method-assign]
    made.add_render_rule("link_open", _link)
    made.add_render_rule("th_open", _cell)
    made.add_render_rule("td_open", _cell)
    return made


def _safe(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)


def _link(self: object, tokens: object, index: int, options: object, env: object) -> str:
    token = tokens[index]  # type: ignore[index]
    token.attrSet("rel", "noopener noreferrer nofollow")
    token.attrSet("target", "_blank")
    return str(self.renderToken(tokens, index, options, env))  # type: ignore[attr-defined]


def _cell(self: object, tokens: object, index: int, options: object, env: object) -> str:
    # The app's policy forbids style attributes.
    token = tokens[index]  # type: ignore[index]
    style = token.attrs.pop("style", "")
    if style:
        token.attrSet("align", str(style).removeprefix("text-align:"))
    return str(self.renderToken(tokens, index, options, env))  # type: ignore[attr-defined]


@lru_cache(maxsize=_KEPT)
def render(text: str) -> str:
    """Convert Markdown to HTML. Results are cached, because the items of a round share few texts."""
    return str(_markdown().render(text))


def title_of(text: str, fallback: str) -> str:
    """Return the first heading."""
    for line in text.splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return fallback
