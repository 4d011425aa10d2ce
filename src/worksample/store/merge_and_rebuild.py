"""Merge of another store into a store, and rebuild of a store's index."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample.errors import UsageError

from . import index, schema
from .error_translation import translate_os_errors
from .record_conflicts import conflict, records_agree

if TYPE_CHECKING:
    from .store import Store


def merge(into: Store, other: Store) -> int:
    """Copy the objects, blobs and logs that `into` lacks from `other`, and index the new objects. Return their number.

    `other` is not changed. A repeated merge changes nothing, and a merge in the other direction gives equal frames.
    Raises RecordConflict, before anything is copied, if the stores have different records with the same id.
    """
    if into.id == other.id and into.name == other.name:
        raise UsageError(
            "a store cannot be merged into itself", where=into.name, next="worksample store merge OTHER --store DIR"
        )
    other.sync(whole=True)
    into.sync(whole=True)
    known = into.objects.all()
    missing = {digest: path for digest, path in other.objects.all().items() if digest not in known}
    _refuse_conflicts(into, other)
    for digest in other.blobs.all():
        if not into.blobs.has(digest):
            into.blobs.put_path(other.blobs.path(digest))
    into.blobs.flush()
    _copy_logs(into, other)
    for digest, path in missing.items():
        into.objects.write(digest, other.objects.place.read(path))
    into.sync()
    return len(missing)


def _refuse_conflicts(into: Store, other: Store) -> None:
    for kind, table in schema.TABLES.items():
        query = select(table.c.id, table.c.body).order_by(table.c.id)
        with other.database.reading() as theirs, into.database.reading() as ours:
            for some in index.chunks(list(theirs.execute(query))):
                wanted = dict(some)
                for id, body in ours.execute(query.where(table.c.id.in_(list(wanted)))):
                    if not records_agree(kind, wanted[id], body):
                        raise conflict(kind, id)


def _copy_logs(into: Store, other: Store) -> None:
    with translate_os_errors(into.name):
        for path in sorted(other.logs.rglob("*")):
            target = into.logs / path.relative_to(other.logs)
            if path.is_file() and not path.is_symlink() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                draft = target.with_name(target.name + ".part")
                shutil.copyfile(path, draft)
                draft.rename(target)


def rebuild(store: Store) -> int:
    """Empty the index of a store and rebuild it from all objects. Return the number of records.

    All changes are one transaction: other processes see the old rows until the new rows are complete. Leases are not
    changed. Every frame is the same before and after, because live trials and verdicts depend only on the set of
    records. Raises BrokenObject if an object cannot be read, and StoreError for other failures.
    """
    return store.reindex()
