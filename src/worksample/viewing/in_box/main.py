"""Program that reads a job from standard input and prints one line of JSON for each file when the file is converted.

A job is `{"in", "out", "work", "files": [[number, quoted path], ...], "light": bool}`. With `light`, a file that needs
a heavy converter gets a line with only its family of formats. It is converted later in a separate process.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import blind_copy as blind
from .conversion_job import ConversionJob, ConverterFault, MissingConverter, Unreadable, ViewDraft
from .format_detection import sniff

CONVERTERS = {
    "text": "text_file",
    "markdown": "markdown_file",
    "tex": "tex",
    "table": "csv_table",
    "image": "browser_image",
    "svg": "browser_image",
    "raster": "raster_image",
    "psd": "psd",
    "pdf": "pdf",
    "office": "office",
    "workbook": "workbook",
    "archive": "archive",
    "database": "database",
    "notebook": "notebook",
    "site": "web_page",
    "media": "media",
    "midi": "midi",
    "model": "model_3d",
    "dxf": "dxf",
    "dwg": "dwg",
    "step": "cad",
    "ifc": "cad",
    "deck": "deck",
    "skp": "skp",
    "ipt": "embedded_thumbnail",
    "rvt": "embedded_thumbnail",
    "ole": "embedded_thumbnail",
    "card": "card",
    "empty": "card",
}
"""Family of formats -> module of this package whose function `convert(job)` makes the view."""
LIGHT = frozenset({"text", "markdown", "table", "image", "svg", "pdf", "site", "step", "ifc", "card", "empty", "model"})
"""Families of formats whose files are converted together in one process."""
LIGHT_BYTES = 4 << 20
_ESCAPE = re.compile(rb"%([0-9A-F]{2})")


def unquote(text: str) -> bytes:
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 16)]), text.encode())


def main() -> None:
    # Libraries may print anything, so answers use a separate descriptor.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = json.load(sys.stdin)
    for number, path in order["files"]:
        answers.write(
            json.dumps([number, replace_non_finite(convert_one(order, number, path))], allow_nan=False, default=str)
            + "\n"
        )
        answers.flush()


def replace_non_finite(plain: Any) -> Any:
    """Replace numbers that JSON lacks (infinity, NaN) by None."""
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, dict):
        return {key: replace_non_finite(value) for key, value in plain.items()}
    return [replace_non_finite(value) for value in plain] if isinstance(plain, list | tuple) else plain


def convert_one(order: dict[str, Any], number: int, path: str) -> dict[str, Any]:
    folder = Path(order["in"])
    file = Path(os.fsdecode(os.path.join(os.fsencode(folder), unquote(path))))  # noqa: PTH118 - bytes
    job = ConversionJob(
        file=file,
        name=unquote(path).rsplit(b"/", 1)[-1].decode("utf-8", "replace"),
        path=path,
        folder=folder,
        out=Path(order["out"]) / str(number),
        work=Path(order["work"]) / str(number),
    )
    try:
        job.size = file.stat().st_size
        job.family = sniff(job)
        heavy = job.family not in LIGHT or job.size > LIGHT_BYTES
        if order["light"] and heavy:
            return {"family": job.family}
        job.plain = order["plain"]
        job.work.mkdir(parents=True, exist_ok=True)
        job.out.mkdir(parents=True, exist_ok=True)
        if order["query"]:
            return _run_query(job, order["query"])
        converter = importlib.import_module(f".{CONVERTERS[job.family]}", __package__)
        made: ViewDraft = converter.convert(job)
        blind.add(job, made)
        return asdict(made) | {"family": job.family}
    except MissingConverter as e:
        return {"family": job.family, "missing": str(e)}
    except (Unreadable, ConverterFault) as e:
        key = "broken" if isinstance(e, ConverterFault) else "unreadable"
        return {"family": job.family, key: str(e)[:2000], "head": job.head(256).hex()}


def _run_query(job: ConversionJob, query: str) -> dict[str, Any]:
    from .database import select

    if job.family != "database":
        raise Unreadable("the file is not a database")
    return select(job, query)
