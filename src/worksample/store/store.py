"""The store of all evidence. Objects are the source of truth, the database is an index of the objects, and blobs hold
the contents of files.
"""

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
"""Maximum number of times that a commit is tried if it collides with other commits."""


class Store:
    """Store of records and blobs. Any number of threads and processes may use it. `Store.open` opens a store."""

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
        """Open the store at a folder or an fsspec URL. None means `$WORKSAMPLE_STORE`, or `./.worksample` if the
        variable is not set.

        With `create`, a missing store is created. With `heal`, objects that the index lacks are indexed, if a quick
        count finds that some are missing. `disk` is this machine's disk, or a test double. Raises StoreError if the
        place has no store, if it has something else, if the store has a newer version, or if an object is broken.
        `heal=False` opens a store with broken objects, for `check`.
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

        The function makes all blobs durable, writes one object with all new records, and runs one short transaction.
        Any number of threads, processes and machines may commit at the same time, and none waits for the disk of
        another.

        Records that the store already has are skipped. They must be equal to the stored records in every field. Tasks,
        evaluators and experiments, whose ids describe their content, may differ from the stored records in the fields
        that say when, by whom and with which settings they were made. If all records are skipped, nothing is written,
        and the digest of an object that has one of the records is returned.

        All records are written, or none. Raises RecordConflict if the store has a different record of the same id;
        StoreFull if the disk is full; StoreUnavailable if a service does not answer within `patience` (the call may
        then be repeated); StoreError for other failures; UsageError without records. Within `fence`, raises Superseded
        if the lease was lost, or if a finished trial belongs to a slot that already has one.
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
        """Remove an object that was written but lost against another process. Return False, and remove nothing, if the
        object is already indexed.
        """
        with self.database.writing(Rivals.RECORDS, fenced=False) as connection:
            refused = index.refuse(connection, committed)
        if refused:
            self.objects.remove(path)
        return refused

    def sync(self, *, whole: bool = False) -> int:
        """Index the objects that the database lacks, and return the number of new records. Raises BrokenObject if an
        object cannot be read, and StoreError for other failures.

        Only objects since one day before the last sync are checked; the day allows for wrong clocks of other machines.
        With `whole`, all objects are checked.
        """
        self._near.sweep()
        return self._replaying.sync(whole=whole)

    def reindex(self) -> int:
        """Empty the index and rebuild it from all objects. Return the number of records. Raises BrokenObject if an
        object cannot be read, and StoreError for other failures.
        """
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
        """Return the record of this class and id. Raises RecordMissing if the store lacks the record."""
        with self.database.reading() as connection:
            found = _GET[cls.kind].fetch_first(connection, {"its_id": id})
        if found is None:
            raise RecordMissing(f"no {cls.kind} with this id", where=id, next="worksample list")
        return _record(cls, found.schema_version, found.body)

    def find(self, cls: type[R], **columns: Any) -> list[R]:
        """Return all records whose columns have these values, sorted by time and then by id. For a list or tuple of
        values, a column must have one of them.

        The columns are those of the table for the kind of record (docs/reference/store.md lists them). Trials also have
        `live` and `finished`. Raises UsageError if the table lacks a column.
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
        """Return the manifest with this digest. Raises RecordMissing if the store lacks it, and CaptureError if it is
        invalid.
        """
        return self._folders.manifest(digest)

    def folder(self, manifest_digest: str) -> Path:
        """Return a folder on this machine with the files of a manifest. The folder is created once. It may only be
        read, or mounted read-only.

        The folder contains only those links that point to a place inside it, and only those files that were captured.
        Raises RecordMissing if a blob is missing, CaptureError if the manifest is invalid, and StoreFull if the disk is
        full.
        """
        return self._folders.path(manifest_digest)

    # -- the plan

    def open_slots(self, experiment: str) -> list[Slot]:
        """Return the attemptable slots of an experiment that have no live finished trial. They are sorted by attempt,
        repeat, instance, agent and arm.
        """
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
        """Lease `key` for a number of seconds. Return False if another owner has the key."""
        return self._leases.take(key, owner, seconds) is not None

    def take(self, key: str, owner: str, seconds: float) -> _Lease | None:
        """Lease `key` for a number of seconds, and return the lease for use with `fence`. Return None if another owner
        has the key.
        """
        return self._leases.take(key, owner, seconds)

    def keep(self, lease: _Lease, seconds: float) -> bool:
        """Extend a lease by a number of seconds. Return False if another owner has taken the key over."""
        return self._leases.keep(lease, seconds)

    def renew(self, key: str, owner: str, seconds: float) -> bool:
        """Extend the lease of `owner` on `key`. Return False if the lease has expired or if another owner has the
        key.
        """
        return self._leases.renew(key, owner, seconds)

    def holder(self, key: str) -> str | None:
        """Return the owner of `key`; None if the key is free or its lease has expired."""
        return self._leases.holder(key)

    def expire(self, key: str, owner: str) -> None:
        """End the lease of an owner whose process no longer exists, so that another owner can take the key over."""
        self._leases.expire(key, owner)

    def release(self, key: str, owner: str) -> None:
        """Release a key that `owner` has leased."""
        self._leases.release(key, owner)

    def fence(self, lease: _Lease) -> AbstractContextManager[None]:
        """Open a block in which every commit requires that `lease` still belongs to its owner. Each commit checks this
        in its transaction.

        A commit after the loss of the lease writes nothing and raises Superseded. The requirement applies to this
        thread and to contexts that are copied from it.
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
