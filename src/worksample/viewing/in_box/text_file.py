"""Text and source code: decoded, and split into tokens for syntax colours."""

from __future__ import annotations

import importlib.util
from typing import Any

from .conversion_job import ConversionJob, Unreadable, ViewDraft
from .text_encoding import decode, encoding

SHOWN = 2 << 20
"""Maximum bytes of a text that are shown. The original file can be downloaded completely."""
COLOURED = 512 << 10
"""Maximum characters of a text that is shown with syntax colours."""


def convert(job: ConversionJob) -> ViewDraft:
    text, meta = read_text(job)
    made = ViewDraft("text", {"text": job.write_artefact("text.txt", text)}, meta)
    lexed = _tokens(job, text)
    if lexed is not None:
        made.meta["language"], lines = lexed
        made.files["lines"] = job.keep_json("lines.json", lines)
    if meta["truncated"]:
        made.problem = f"only the first {SHOWN >> 20} MiB are shown"
    return made


def read_text(job: ConversionJob) -> tuple[str, dict[str, Any]]:
    r"""Return the text with line ends as \n, and its metadata. Raises Unreadable."""
    data = job.head(SHOWN)
    cut = job.size > len(data)
    name, text = encoding(data, whole=not cut), decode(data, whole=not cut)
    if name is None or text is None:
        raise Unreadable("only the beginning of the file is text")
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    lines = text.split("\n")
    meta = {
        "encoding": name,
        "size": job.size,
        "lines": len(lines) - (lines[-1] == ""),
        "longest": max(map(len, lines)),
        "truncated": cut,
        "language": "",
    }
    return text, meta


def _tokens(job: ConversionJob, text: str) -> tuple[str, list[list[list[str]]]] | None:
    """Return the language and, per line, pairs of a token class and its text; None for plain text."""
    if job.plain or importlib.util.find_spec("pygments") is None or len(text) > COLOURED:
        return None
    from pygments.lexers import find_lexer_class_for_filename
    from pygments.token import STANDARD_TYPES

    found = find_lexer_class_for_filename(job.name, text[:2000])
    if found is None or found.name == "Text only":
        return None
    lines: list[list[list[str]]] = [[]]
    for kind, value in found(stripnl=False, ensurenl=False).get_tokens(text):
        short = STANDARD_TYPES.get(kind, "")
        for i, part in enumerate(value.split("\n")):
            if i:
                lines.append([])
            if part:
                lines[-1].append([short, part])
    return found.name, lines
