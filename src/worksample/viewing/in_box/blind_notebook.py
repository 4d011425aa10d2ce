"""Blind copies of notebooks. Authors, accounts, notes of editors and names of environments are removed; cells and
outputs stay.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from .blind_picture import strip_metadata
from .conversion_job import ConversionJob
from .text_encoding import decode

LARGEST = 64 << 20
_CELL = {"tags", "collapsed", "scrolled", "jupyter", "slideshow"}


def scrub(job: ConversionJob, leaks: list[str]) -> bytes:
    if job.size > LARGEST:
        raise ValueError("the notebook is too large to be anonymised")
    book = json.loads(decode(job.file.read_bytes()) or "")
    about = book.get("metadata") or {}
    language = str((about.get("kernelspec") or {}).get("language") or "python")
    book["metadata"] = {"kernelspec": {"display_name": language, "language": language, "name": language}}
    if isinstance(about.get("language_info"), dict):
        book["metadata"]["language_info"] = about["language_info"]
    sheets = [sheet for sheet in book.get("worksheets") or [] if sheet is not None]
    for sheet in sheets:
        sheet["metadata"] = {}
    for cell in book.get("cells") or [c for sheet in sheets for c in sheet.get("cells") or []]:
        if cell is None:
            continue
        cell["metadata"] = {k: v for k, v in (cell.get("metadata") or {}).items() if k in _CELL}
        cell.pop("attachments_metadata", None)
        for output in filter(None, cell.get("outputs") or []):
            if "metadata" in output:
                output["metadata"] = {}
            _pictures(output.get("data", output) or {})
        for files in (cell.get("attachments") or {}).values():
            _pictures(files or {})
    return json.dumps(book, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _pictures(data: dict[str, Any]) -> None:
    for kind in ("image/png", "image/jpeg", "image/gif", "image/webp", "png", "jpeg"):
        value = data.get(kind)
        if value is None:
            continue
        text = "".join(value) if isinstance(value, list) else str(value)
        try:
            clean = strip_metadata(base64.b64decode(text))
        except (binascii.Error, ValueError, IndexError):
            continue
        if clean is not None:
            data[kind] = base64.b64encode(clean).decode()


def picture(data: bytes) -> bytes:
    """Remove the metadata of a picture in a notebook's output. A damaged picture stays unchanged."""
    try:
        return strip_metadata(data) or data
    except (ValueError, IndexError, ArithmeticError):
        return data
