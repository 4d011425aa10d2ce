"""Converter of PDF files. The browser shows a PDF itself; this module counts the pages and checks the file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .conversion_job import ConversionJob, Unreadable, ViewDraft, program, run


def convert(job: ConversionJob) -> ViewDraft:
    return ViewDraft("pdf", meta=pages_of(job.file))


def pages_of(file: Path) -> dict[str, Any]:
    """Return the number of pages and the first page's size in points. Raises Unreadable, MissingConverter."""
    ran = run([program("pdfinfo", "poppler"), "-enc", "UTF-8", "--", str(file)], seconds=20)
    text = ran.out.decode("utf-8", "replace")
    count = re.search(r"^Pages:\s+(\d+)$", text, re.M)
    if not ran.ok or count is None:
        if "ncorrect password" in ran.err:
            raise Unreadable("the file is protected by a password")
        raise Unreadable(f"the PDF is damaged: {ran.err[:300]}")
    size = re.search(r"^Page size:\s+([\d.]+) x ([\d.]+)", text, re.M)
    meta: dict[str, Any] = {"pages": int(count.group(1))}
    if size:
        meta["page_size"] = [float(size.group(1)), float(size.group(2))]
    script = re.search(r"^JavaScript:\s+yes", text, re.M)
    return meta | {"script": bool(script)}
