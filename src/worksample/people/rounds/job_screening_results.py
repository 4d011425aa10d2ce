"""Results of screening jobs by program before people look: stored as blobs, shown beside the job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worksample.records import Json
from worksample.store import put_canonical

if TYPE_CHECKING:
    from worksample.store import Store

SHOWN = "shown"
"""Key of the Markdown that people read in a screening result."""


def store_looks(store: Store, looks: Mapping[str, Mapping[str, Json]]) -> str:
    """Store the screening results by instance. Return the digest of their index. Each has `shown`."""
    index: dict[str, Json] = {job: put_canonical(store.blobs, dict(look)) for job, look in sorted(looks.items())}
    return put_canonical(store.blobs, index)


def read_look(store: Store, looks: str, job: str) -> dict[str, Any]:
    """Return one job's screening result; empty if it was not screened. Raises StoreError."""
    digest = json.loads(store.blobs.read(looks)).get(job) if looks else None
    found: dict[str, Any] = json.loads(store.blobs.read(digest)) if digest else {}
    return found


def read_looks(store: Store, looks: str) -> dict[str, dict[str, Any]]:
    """Return all screening results by job. Raises StoreError."""
    index = json.loads(store.blobs.read(looks)) if looks else {}
    return {job: json.loads(store.blobs.read(digest)) for job, digest in index.items()}
