"""What a program found in jobs before people look at them: kept as blobs, shown beside the job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worksample.files import put_canonical
from worksample.records import Json

if TYPE_CHECKING:
    from worksample.store import Store

SHOWN = "shown"
"""Of a look: what people read of it, as Markdown."""


def keep_looks(store: Store, looks: Mapping[str, Mapping[str, Json]]) -> str:
    """Put the looks, by instance, into the store; returns the digest of the blob that names them. Each has `shown`."""
    index: dict[str, Json] = {job: put_canonical(store.blobs, dict(look)) for job, look in sorted(looks.items())}
    return put_canonical(store.blobs, index)


def read_look(store: Store, looks: str, job: str) -> dict[str, Any]:
    """What was found in one job; empty where nothing was looked for. Raises StoreError."""
    digest = json.loads(store.blobs.read(looks)).get(job) if looks else None
    found: dict[str, Any] = json.loads(store.blobs.read(digest)) if digest else {}
    return found


def read_looks(store: Store, looks: str) -> dict[str, dict[str, Any]]:
    """By job. Raises StoreError."""
    index = json.loads(store.blobs.read(looks)) if looks else {}
    return {job: json.loads(store.blobs.read(digest)) for job, digest in index.items()}
