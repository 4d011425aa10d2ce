"""Jupyter notebooks: cells and their outputs, with pictures as files and Markdown rendered."""

from __future__ import annotations

import base64
import binascii
import importlib.util
import json
from typing import Any

from .blind_notebook import picture
from .job import Job, Made, Unreadable
from .markup import render

CELLS = 2_000
TEXT = 200_000
"""Characters of one output that are shown."""
_IMAGES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/svg+xml": "svg", "image/webp": "webp"}
_WHOLE = 64 << 20


def convert(job: Job) -> Made:
    try:
        book = json.loads(job.head(_WHOLE).decode("utf-8-sig", "replace"))
        cells = book["cells"] if "cells" in book else [c for w in book["worksheets"] for c in w["cells"]]
        language = str((book.get("metadata") or {}).get("kernelspec", {}).get("language") or "python")[:40]
        made = Made("notebook", meta={"language": language, "cells": len(cells)})
        shown = [_cell(job, made, cell) for cell in cells[:CELLS]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise Unreadable(f"the notebook is damaged: {type(e).__name__} {str(e)[:200]}") from e
    made.files["cells"] = job.keep_json("cells.json", shown)
    errors = sum(o["type"] == "error" for c in shown for o in c["outputs"])
    made.meta |= {"errors": errors, "run": sum(c["count"] is not None for c in shown)}
    said = [f"only the first {CELLS:,} cells are shown"] if len(cells) > CELLS else []
    made.problem = "; ".join(said)
    return made


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def _cell(job: Job, made: Made, cell: dict[str, Any]) -> dict[str, Any]:
    kind = str(cell.get("cell_type", "raw"))
    source = _text(cell.get("source", cell.get("input", "")))[:TEXT]
    plain: dict[str, Any] = {"type": kind, "source": source, "count": cell.get("execution_count"), "outputs": []}
    if not isinstance(plain["count"], int):
        plain["count"] = None
    if kind == "markdown" and importlib.util.find_spec("markdown_it"):
        plain["html"] = render(source)
    for output in cell.get("outputs", [])[:200]:
        plain["outputs"].append(_output(job, made, output))
    return plain


def _output(job: Job, made: Made, output: dict[str, Any]) -> dict[str, Any]:
    """{type: text | error | image | html | none, text or file}. HTML is the agent's own: for its own origin only."""
    kind = output.get("output_type")
    if kind == "stream":
        return {"type": "text", "name": str(output.get("name", "")), "text": _text(output.get("text", ""))[:TEXT]}
    if kind in ("error", "pyerr"):
        text = "\n".join(map(str, output.get("traceback", []))) or f"{output.get('ename')}: {output.get('evalue')}"
        return {"type": "error", "text": text[:TEXT]}
    data = output.get("data", output)
    for mime, extension in _IMAGES.items():
        value = data.get(mime, data.get(extension))
        if value is not None:
            return _image(job, made, _text(value), extension)
    for mime in ("text/html", "text/markdown", "text/latex", "text/plain"):
        if mime in data:
            name = mime.split("/")[1]
            return {"type": "text" if name == "plain" else name, "text": _text(data[mime])[:TEXT]}
    return {"type": "none", "text": ", ".join(map(str, data))[:200]}


def _image(job: Job, made: Made, text: str, extension: str) -> dict[str, Any]:
    try:
        data = text.encode() if extension == "svg" else base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return {"type": "error", "text": "a picture that cannot be decoded"}
    name = f"image/{len(made.files)}.{extension}"
    made.files[name] = job.keep(name, picture(data))
    return {"type": "image", "file": name}
