"""Intake of task packages: reads a package and commits its records to the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worksample.errors import RecordMissing
from worksample.records import Experiment, Record, Slot, Task
from worksample.store import Store
from worksample.tasks import ingest, read_package
from worksample.tasks.package_ingestion import Ingested

from .exclusive_lease import exclusively

PLANNING = "planning"


def ingest_package(store: Store, folder: Path) -> Ingested:
    """Read a task package and commit its records. Raises ManifestError if the package is invalid."""
    ingested = ingest(read_package(folder), store.blobs)
    commit_new(store, (ingested.task, *ingested.instances))
    return ingested


def commit_new(store: Store, records: Iterable[Record]) -> None:
    """Commit those of the given records that the store lacks."""
    with exclusively(store, PLANNING):
        store.commit(*(r for r in records if not _has_first_words(r) or not store_holds(store, r)))


def _has_first_words(record: Record) -> bool:
    """Return whether an already stored version of the record is kept instead of this record. This holds for kinds of
    records whose versions differ only in the time of intake or in the wording of a reason.
    """
    return isinstance(record, Task | Experiment) or (isinstance(record, Slot) and bool(record.not_attemptable))


def store_holds(store: Store, record: Record) -> bool:
    """Return whether the store has a record with this id."""
    try:
        store.get(type(record), record.id)
    except RecordMissing:
        return False
    return True
