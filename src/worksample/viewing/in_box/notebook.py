"""Jupyter notebooks: cells and outputs, with pictures as files and Markdown rendered."""

from __future__ import annotations

import base64
import binascii
import importlib.util
import json
from typing import Any

from .blind_notebook import picture
from .conversion_job import READERS_FAULTS, ConversionJob, ViewDraft, fault
from .markdown_file import render
from .text_encoding import decode

CELLS = 2_000
TEXT = 200_000
"""Maximum characters of an output that are shown."""
_IMAGES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/svg+xml": "svg", "image/webp": "webp"}
_WHOLE = 64 << 20


def convert(job: ConversionJob) -> ViewDraft:
    """Convert a notebook of format 2, 3 or 4. Null values count as absent, as in Jupyter."""
    try:
        book = _table(json.loads(decode(job.head(_WHOLE)) or ""))
        if not {"cells", "worksheets"} & set(book):
            raise ValueError("the file has no cells")
        cells = _list(book.get("cells")) or [
            c for w in _list(book.get("worksheets")) for c in _list(_table(w).get("cells"))
        ]
        metadata = _table(book.get("metadata"))
        said = _table(metadata.get("kernelspec")).get("language") or _table(metadata.get("language_info")).get("name")
        made = ViewDraft("notebook", meta={"language": str(said or "python")[:40], "cells": len(cells)})
        shown = [_cell(job, made, _table(cell)) for cell in cells[:CELLS]]
    except READERS_FAULTS as e:
        raise fault(e, "the notebook") from e
    made.files["cells"] = job.keep_json("cells.json", shown)
    errors = sum(o["type"] == "error" for c in shown for o in c["outputs"])
    made.meta |= {"errors": errors, "run": sum(c["count"] is not None for c in shown)}
    made.problem = f"only the first {CELLS:,} cells are shown" if len(cells) > CELLS else ""
    return made


def _table(value: Any) -> dict[str, Any]:
    """Return the value if it can be an object of a notebook. Raises ValueError otherwise."""
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"the file has a {type(value).__name__} where an object is needed")
    return value or {}


def _list(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ValueError(f"the file has a {type(value).__name__} where a list is needed")
    return value or []


def _text(value: Any) -> str:
    """Return a text, which notebooks may store as a list of lines; other values become JSON."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _cell(job: ConversionJob, made: ViewDraft, cell: dict[str, Any]) -> dict[str, Any]:
    kind = str(cell.get("cell_type") or "raw")
    source = _text(cell.get("source", cell.get("input")))[:TEXT]
    if kind in ("heading", "html"):  # of formats 2 and 3
        kind, level = "markdown", cell.get("level") if kind == "heading" else None
        source = f"{'#' * level if isinstance(level, int) and 0 < level < 7 else ''} {source}".strip()
    count = cell.get("execution_count", cell.get("prompt_number"))
    plain: dict[str, Any] = {"type": kind, "source": source, "count": None, "outputs": []}
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 1 << 53:
        plain["count"] = count
    if kind == "markdown" and importlib.util.find_spec("markdown_it"):
        plain["html"] = render(source)
    for output in _list(cell.get("outputs"))[:200]:
        plain["outputs"].append(_output(job, made, _table(output)))
    return plain


_OLD = {
    "text/html": "html", "text/latex": "latex", "text/plain": "text", "application/json": "json",
    "application/javascript": "javascript",
}  # fmt: skip
"""MIME types of format 4 -> names in formats 2 and 3."""
_TEXTS = ("text/html", "text/markdown", "text/latex", "text/plain", "application/json", "application/javascript")


def _output(job: ConversionJob, made: ViewDraft, output: dict[str, Any]) -> dict[str, Any]:
    """Describe an output: {type: text | error | image | html | none, text or file}. HTML is the agent's and needs its
    own origin.
    """
    kind = output.get("output_type")
    if kind == "stream":
        name = output.get("name") or output.get("stream") or ""
        return {"type": "text", "name": str(name), "text": _text(output.get("text"))[:TEXT]}
    if kind in ("error", "pyerr"):
        named = [_text(output[key]) for key in ("ename", "evalue") if output.get(key) is not None]
        text = "\n".join(map(str, _list(output.get("traceback")))) or ": ".join(named)
        return {"type": "error", "text": text[:TEXT]}
    data = _table(output["data"]) if "data" in output else output
    for mime, extension in _IMAGES.items():
        value = data.get(mime) or data.get("jpeg" if extension == "jpg" else extension)
        if value is not None:
            return _image(job, made, _text(value), extension)
    for mime in _TEXTS:
        value = data.get(mime)
        if value is None and "data" not in output:
            value = data.get(_OLD.get(mime, mime))
        if value is not None:
            name = mime.split("/")[1]
            shown = name if name in ("html", "markdown", "latex") else "text"
            return {"type": shown, "text": _text(value)[:TEXT]}
    return {"type": "none", "text": ", ".join(map(str, data))[:200]}


def _image(job: ConversionJob, made: ViewDraft, text: str, extension: str) -> dict[str, Any]:
    try:
        data = text.encode() if extension == "svg" else base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return {"type": "error", "text": "a picture that cannot be decoded"}
    name = f"image/{len(made.files)}.{extension}"
    made.files[name] = job.write_artefact(name, picture(data))
    return {"type": "image", "file": name}
