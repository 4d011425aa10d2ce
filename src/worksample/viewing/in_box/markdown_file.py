"""Markdown, rendered without the raw HTML in it."""

from __future__ import annotations

import importlib.util
import re

from . import text_file as text
from .conversion_job import ConversionJob, MissingConverter, ViewDraft

_TARGET = re.compile(r'(?:src|href)="([^"]+)"')


def convert(job: ConversionJob) -> ViewDraft:
    made = text.convert(job)
    made.kind = "markdown"
    source = (job.out / "text.txt").read_text(encoding="utf-8")
    html = render(source)
    made.files["html"] = job.write_artefact("rendered.html", html)
    made.by = "markdown-it-py"
    made.beside, made.meta["external"] = targets(html)
    return made


def render(source: str) -> str:
    """Convert to HTML: raw HTML is shown as text, links to scripts are dropped. Raises MissingConverter."""
    if importlib.util.find_spec("markdown_it") is None:
        raise MissingConverter("markdown-it-py")
    from markdown_it import MarkdownIt

    return str(
        MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"]).render(source)
    )


def targets(html: str) -> tuple[list[str], int]:
    """Return the local files that HTML refers to, and the number of outside pictures and links."""
    found = dict.fromkeys(_TARGET.findall(html))
    near = [t.partition("#")[0] for t in found if not re.match(r"[a-z][a-z0-9+.-]*:|//|#", t, re.I)]
    return [t for t in near if t][:500], sum(1 for t in found if re.match(r"https?:|//", t, re.I))
