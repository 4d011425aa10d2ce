"""Packages into the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worksample.errors import RecordMissing
from worksample.records import Experiment, Record, Task
from worksample.store import Store
from worksample.tasks import ingest, read_package
from worksample.tasks.ingestion import Ingested

from .exclusive_lease import exclusively

PLANNING = "planning"


def ingest_package(store: Store, folder: Path) -> Ingested:
    """Read a package and commit its records. ManifestError where it is wrong."""
    ingested = ingest(read_package(folder), store.blobs)
    commit_new(store, (ingested.task, *ingested.instances))
    return ingested


def commit_new(store: Store, records: Iterable[Record]) -> None:
    """Commit what the store lacks. Tasks and experiments carry the moment they came in: the first one stays."""
    with exclusively(store, PLANNING):
        store.commit(*(r for r in records if not isinstance(r, Task | Experiment) or not store_holds(store, r)))


def store_holds(store: Store, record: Record) -> bool:
    """Whether the store holds a record of this identity."""
    try:
        store.get(type(record), record.id)
    except RecordMissing:
        return False
    return True
