"""Converter of STEP and IFC. Viewers in the browser show these files; this module only counts their entities."""

from __future__ import annotations

import re

from .conversion_job import ConversionJob, Unreadable, ViewDraft

LARGEST = 200 << 20


def convert(job: ConversionJob) -> ViewDraft:
    """Count the entities `#n=NAME(...)` of a file, read as a stream, and list the most common entities."""
    if job.size > LARGEST:
        raise Unreadable(f"the file has {job.size >> 20} MiB, more than a browser can show")
    schema = re.search(rb"FILE_SCHEMA\s*\(\s*\(\s*'([^']{1,80})", job.head(1 << 16))
    names: dict[str, int] = {}
    last = b""
    with job.file.open("rb") as f:
        while data := f.read(4 << 20):
            whole, _, rest = (last + data).rpartition(b";")
            last = rest[-65536:]
            for found in re.finditer(rb"#\d+\s*=\s*\(?\s*([A-Z][A-Z0-9_]{2,60})", whole):
                name = found.group(1).decode()
                if name in names or len(names) < 2_000:
                    names[name] = names.get(name, 0) + 1
    ended = b"END-ISO-10303-21" in last or b"END-ISO-10303-21" in job.file.read_bytes()[-4096:]
    common = sorted(names.items(), key=lambda item: -item[1])[:20]
    meta = {
        "format": "IFC" if job.family == "ifc" else "STEP",
        "schema": schema.group(1).decode("ascii", "replace") if schema else "",
        "entities": sum(names.values()),
        "common": common,
        "size": job.size,
    }
    if not names:
        raise Unreadable("the file has no content")
    return ViewDraft("ifc" if job.family == "ifc" else "cad", meta=meta, problem="" if ended else "the file is cut off")
