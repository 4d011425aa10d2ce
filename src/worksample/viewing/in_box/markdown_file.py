"""Markdown, rendered without the HTML that it may hold."""

from __future__ import annotations

import importlib.util
import re

from . import text_file as text
from .conversion_job import ConversionJob, Missing, ViewDraft

_TARGET = re.compile(r'(?:src|href)="([^"]+)"')


def convert(job: ConversionJob) -> ViewDraft:
    made = text.convert(job)
    made.kind = "markdown"
    source = (job.out / "text.txt").read_text(encoding="utf-8")
    html = render(source)
    made.files["html"] = job.keep("rendered.html", html)
    made.by = "markdown-it-py"
    made.beside, made.meta["external"] = targets(html)
    return made


def render(source: str) -> str:
    """As HTML: markup in the source is shown as text, links to scripts are dropped. Raises Missing."""
    if importlib.util.find_spec("markdown_it") is None:
        raise Missing("markdown-it-py")
    from markdown_it import MarkdownIt

    return str(
        MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"]).render(source)
    )


def targets(html: str) -> tuple[list[str], int]:
    """What rendered HTML points at: files beside it, and how many pictures or links lie elsewhere."""
    found = dict.fromkeys(_TARGET.findall(html))
    near = [t.partition("#")[0] for t in found if not re.match(r"[a-z][a-z0-9+.-]*:|//|#", t, re.I)]
    return [t for t in near if t][:500], sum(1 for t in found if re.match(r"https?:|//", t, re.I))
