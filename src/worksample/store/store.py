"""The store: objects are the source of truth, the database is an index over them, blobs hold file contents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Select, bindparam, func, select

from worksample.errors import RecordConflict, RecordMissing, Superseded, UsageError
from worksample.fault_injection import failpoint
from worksample.records import Manifest, Record, Slot, from_envelope

from . import index, schema
from .blobs import Blobs, ManifestFolders
from .commit_objects import Committed, Objects, draft
from .database import Collided, Database, Rivals
from .durable_disk import Disk as _Disk
from .error_translation import translate_os_errors
from .faults import with_patience
from .index_rebuild import IndexRebuild
from .lease import Lease as _Lease
from .lease import Leases
from .lease_fence import is_fenced, require_lease
from .location import Location as _Location
from .location import locate
from .prepared_statements import Prepared
from .record_rows import micros
from .schema_migrations import prepare

R = TypeVar("R", bound=Record)
_MOMENT = ("ended", "at", "ingested")
_HIDDEN = frozenset({"body", "object", "schema_version"})
_GET = {
    kind: Prepared(select(table.c.schema_version, table.c.body).where(table.c.id == bindparam("its_id")))
    for kind, table in schema.TABLES.items()
}

_AGAIN = 20
"""Number of times that a commit is retried if it collides with others."""


class Store:
    """Records and blobs, for any number of threads and processes. Open a store with `Store.open`."""

    def __init__(self, location: _Location) -> None:
        near, far = location.near, location.far
        self.name = location.place.name
        self.id = location.id
        self.objects = Objects(location.place)
        self.blobs = Blobs(near, far)
        self.logs: Path = near.root / "logs"
        self.patience = location.patience
        self.database = Database(location.database, self.patience)
        self._replaying = IndexRebuild(self.database, self.objects)
        self.far = far
        self._near = near
        self._folders = ManifestFolders(near.root / "cache" / "folders", near.root / "tmp", self.blobs)
        self._leases = Leases(self.database)

    @classmethod
    def open(
        cls, where: str | Path | None = None, *, create: bool = False, heal: bool = True, disk: _Disk | None = None
    ) -> Store:
        """Open the store at a folder or an fsspec URL; None means $WORKSAMPLE_STORE, or `./.worksample`.

        `create` creates a missing store. `heal` indexes objects that the index lacks, if a quick count finds any.
        Raises StoreError if the place has no store, something else, a store of a newer version, or a broken object
        (`heal=False` opens such a store, for `check`). `disk` is the machine's disk, or a test double.
        """
        with ExitStack() as opening:
            store = opening.enter_context(cls(locate(where, create=create, disk=disk)))
            with translate_os_errors(store.name):
                fresh = prepare(store.database, store.id, lock=store._near.root / "lock")
                store.logs.mkdir(exist_ok=True)
            if heal and (fresh or store._lags()):
                store.sync(whole=True)
            opening.pop_all()
        return store

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing

    def commit(self, *records: Record) -> str:
        """Write records, and return the digest of their object.

        Makes blobs durable, writes one object with all new records, then runs one short transaction. Any number of
        threads, processes and machines may commit at the same time; none waits for another's disk.

        Records that the store already has are skipped. They must be equal in every field; tasks, evaluators and
        experiments, whose ids describe their content, may differ in when, by whom and how they were noted. If all
        records are skipped, nothing is written, and the digest of an object that has one of them is returned.

        Writes all records or none. Raises RecordConflict if the store has a different record of the same id, StoreFull,
        StoreError (StoreUnavailable if a service does not answer for `patience`; the same call may be repeated then),
        and UsageError without records; within `fence` also Superseded, if the lease was lost or if a
        finished trial belongs to a slot that has one.
        """
        if not records:
            raise UsageError("commit needs at least one record", next="pass one or more records")
        self.blobs.flush()
        missing, held = self._lacking(records)
        if not missing:
            return held
        committed, data = draft(missing)
        path = self.objects.write(committed.digest, data)
        # If the process is killed from here on, the object has no rows; the next `sync` indexes it.
        failpoint("store.object")
        try:
            self._enter(committed)
        except RecordConflict:
            self._take_back(committed, path)
            raise
        except Superseded:
            # If another process has already indexed the object, it was committed before the lease was lost.
            if self._take_back(committed, path):
                raise
        return committed.digest

    @with_patience
    def _lacking(self, records: Sequence[Record]) -> tuple[list[Record], str]:
        with self.database.reading() as connection:
            return index.lacking(connection, records)

    @with_patience
    def _enter(self, committed: Committed) -> None:
        rivals = Rivals.RECORDS if len(committed.records) <= index.MANY else Rivals.LEASES
        for left in reversed(range(_AGAIN)):
            try:
                with self.database.writing(rivals) as connection:
                    index.enter(connection, committed, sole=is_fenced(self.database))
                return
            except Collided:
                # Another commit wrote a record of the same id, or a trial of the same slot: retry and see it.
                if not left:
                    raise

    @with_patience
    def _take_back(self, committed: Committed, path: str) -> bool:
        """Remove an object that no other process has seen, because another process was faster. Return False if it is
        indexed already.
        """
        with self.database.writing(Rivals.RECORDS, fenced=False) as connection:
            refused = index.refuse(connection, committed)
        if refused:
            self.objects.remove(path)
        return refused

    def sync(self, *, whole: bool = False) -> int:
        """Index objects that the database lacks, and return the number of new records. Raises BrokenObject or
        StoreError.

        Checks objects since one day before the last sync, because a machine's clock may be wrong, or all objects if
        `whole`.
        """
        self._near.sweep()
        return self._replaying.sync(whole=whole)

    def reindex(self) -> int:
        """Empty the index, replay every object, and return the number of records. Raises BrokenObject or StoreError."""
        return self._replaying.reindex()

    def _lags(self) -> bool:
        if self.far is not None:
            return False
        commits = schema.commits
        with self.database.reading() as connection:
            query = select(func.count()).select_from(commits).where(commits.c.records != index.REFUSED)
            rows = connection.execute(query).scalar_one()
        return self._near.count("records") > rows

    # -- reading

    @with_patience
    def get(self, cls: type[R], id: str) -> R:
        """Return the record with this id. Raises RecordMissing."""
        with self.database.reading() as connection:
            found = _GET[cls.kind].fetch_first(connection, {"its_id": id})
        if found is None:
            raise RecordMissing(f"no {cls.kind} with this id", where=id, next="worksample list")
        return _record(cls, found.schema_version, found.body)

    def find(self, cls: type[R], **columns: Any) -> list[R]:
        """Return all records whose columns equal these values (any of them, for a list or tuple), by time, then id.

        The columns are those of the kind's table (see docs/reference/store.md); for trials also `live` and `finished`.
        Raises UsageError for a column that the table lacks.
        """
        table = schema.TABLES[cls.kind]
        query = select(table)
        for name, value in columns.items():
            if name not in table.c or name in _HIDDEN:
                allowed = ", ".join(c.name for c in table.c if c.name not in _HIDDEN)
                raise UsageError(f"{cls.kind} has no column {name!r}", next=f"one of {allowed}")
            column = table.c[name]
            if isinstance(value, list | tuple | set | frozenset):
                query = query.where(column.in_([_plain(v) for v in value]))
            else:
                query = query.where(column == _plain(value))
        return self._records(cls, query)

    @with_patience
    def _records(self, cls: type[R], query: Select[Any]) -> list[R]:
        with self.database.reading() as connection:
            rows = connection.execute(query).mappings().all()
        moment = next((m for m in _MOMENT if m in schema.TABLES[cls.kind].c), "id")
        out = []
        for row in sorted(rows, key=lambda r: (r[moment], r["id"])):
            out.append(_record(cls, row["schema_version"], row["body"]))
        return out

    def manifest(self, digest: str) -> Manifest:
        """Return the manifest with this digest. Raises RecordMissing or CaptureError."""
        return self._folders.manifest(digest)

    def folder(self, manifest_digest: str) -> Path:
        """Return the manifest as a folder of this machine, created once. Only read it, or mount it read-only.

        The folder has links that point inside it, but no other links, and no files that were not captured. Raises
        RecordMissing, CaptureError or StoreFull.
        """
        return self._folders.path(manifest_digest)

    # -- the plan

    def open_slots(self, experiment: str) -> list[Slot]:
        """Return attemptable slots without a live finished trial, sorted by attempt, repeat, instance, agent, arm."""
        slots, trials = schema.slots, schema.trials
        done = select(trials.c.slot).where(trials.c.experiment == experiment, trials.c.live)
        query = select(slots).where(
            slots.c.experiment == experiment, slots.c.not_attemptable == "", slots.c.id.not_in(done)
        )
        return sorted(self._records(Slot, query), key=lambda s: (s.attempt, s.repeat, s.instance, s.agent, s.arm, s.id))

    @with_patience
    def tries(self, slot: str) -> int:
        """Return the number of closed trials of a slot."""
        trials = schema.trials
        with self.database.reading() as connection:
            query = select(func.count()).select_from(trials).where(trials.c.slot == slot)
            return connection.execute(query).scalar_one()

    def lease(self, key: str, owner: str, seconds: float) -> bool:
        """Lease `key` for some seconds. Return False if another owner has it."""
        return self._leases.take(key, owner, seconds) is not None

    def take(self, key: str, owner: str, seconds: float) -> _Lease | None:
        """Lease `key` as `lease` does, and return the lease for use with `fence`; None if another owner has it."""
        return self._leases.take(key, owner, seconds)

    def keep(self, lease: _Lease, seconds: float) -> bool:
        """Extend a lease. Return False if another owner took it over."""
        return self._leases.keep(lease, seconds)

    def renew(self, key: str, owner: str, seconds: float) -> bool:
        """Extend a lease. Return False if it is no longer `owner`'s."""
        return self._leases.renew(key, owner, seconds)

    def holder(self, key: str) -> str | None:
        """Return the owner of `key`, or None."""
        return self._leases.holder(key)

    def expire(self, key: str, owner: str) -> None:
        """End the lease of an owner that no longer exists, so that the next owner can take it over."""
        self._leases.expire(key, owner)

    def release(self, key: str, owner: str) -> None:
        """Release a key."""
        self._leases.release(key, owner)

    def fence(self, lease: _Lease) -> AbstractContextManager[None]:
        """Open a block whose commits require that `lease` still belongs to its owner; each commit checks this in its
        transaction.

        A commit after the lease was lost writes nothing and raises Superseded. Applies to this thread and to contexts
        copied from it.
        """
        return require_lease(self.database, lease)


def _plain(value: Any) -> Any:
    """Return the value as the tables store it."""
    if isinstance(value, Enum):
        return value.value
    return micros(value) if isinstance(value, datetime) else value


def _record(cls: type[R], version: int, body: str) -> R:
    if version == cls.schema_version:
        return cls.model_validate_json(body)
    record = from_envelope({"kind": cls.kind, "schema": version, "body": json.loads(body)})
    assert isinstance(record, cls)
    return record
