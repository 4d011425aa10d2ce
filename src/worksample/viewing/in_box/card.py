"""Cards for files that no other converter can show. A card contains the size, the first bytes and the words of the
file.
"""

from __future__ import annotations

import re

from .conversion_job import ConversionJob, ViewDraft

_WORDS = re.compile(rb"[\x20-\x7e]{6,200}")


def convert(job: ConversionJob) -> ViewDraft:
    if job.family == "empty":
        return ViewDraft("card", meta={"type": "empty file", "size": 0}, badge="card", problem="the file is empty")
    head = job.head(1 << 16)
    words = [w.decode() for w in _WORDS.findall(head)[:40]]
    return ViewDraft(
        "card",
        meta={"type": "unknown", "size": job.size, "head": head[:512].hex(), "words": words},
        badge="card",
        problem="no viewer knows this format",
        inspectable=False,
    )
