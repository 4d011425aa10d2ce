"""Check of a store: objects match their names, rows match objects, and every id and blob that a record names exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample.errors import CaptureError, RecordMissing, StoreError
from worksample.files.copy_file import copy_file
from worksample.records import (
    Amendment,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Manifest,
    Record,
    struck,
)

from . import index, schema
from .blobs import blob_path
from .commit_objects import BrokenObject
from .record_conflicts import ObjectClaim, records_agree, takes_precedence
from .record_references import blobs_of, ids_of
from .record_rows import body, micros

if TYPE_CHECKING:
    from .store import Store


@dataclass(frozen=True)
class StoreFault:
    """Fault of a store. `next` is a command to type, or advice on what to do."""

    what: str
    where: str
    next: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}\n  next: {self.next}"


_REBUILD = "worksample store rebuild"
_RESTORE = "copy it from another store with `worksample store merge`, or from a backup"

Known = dict[tuple[str, str], tuple[Record, int, str]]
"""Records by kind and id. Each value has the record, the time at which its object was written (in microseconds since
1970), and the digest of this object.
"""


def check(store: Store, *, deep: bool = False) -> list[StoreFault]:
    """Return all faults of a store. An empty list means that the store is sound. With `deep`, every blob is read, too.

    These are faults: broken or unknown objects; an id with different contents in two objects; rows without an object,
    objects without rows, or rows that differ from their object; wrong live flags; slots that were finished twice; work
    that one evaluator graded twice; ids of missing records; missing blobs, blobs of a wrong size, and (with `deep`)
    blobs with damaged bytes. A store with broken objects can be opened with `Store.open(heal=False)`.
    """
    faults: list[StoreFault] = []
    paths = store.objects.all()
    known, sound = _objects(store, paths, faults)
    faults += _rows(store, known, paths, sound)
    faults += _graded_twice(known)
    faults += _dangling(known, paths)
    faults += _blobs(store, known)
    if deep:
        faults += _contents(store)
    return faults


def _objects(store: Store, paths: dict[str, str], faults: list[StoreFault]) -> tuple[Known, set[str]]:
    """Return every record together with the object whose version counts, and the digests of all sound objects."""
    known: Known = {}
    sound: set[str] = set()
    name = store.objects.place.name
    for stray in store.objects.strays():
        faults.append(
            StoreFault(
                "this file does not belong to the store: its name is not that of an object",
                f"{name}/{stray}",
                "remove it",
            )
        )
    for digest in sorted(paths):
        try:
            committed = store.objects.read(digest, paths[digest])
        except (BrokenObject, RecordMissing) as e:
            faults.append(StoreFault(e.what, e.where, e.next))
            continue
        sound.add(digest)
        at = micros(committed.at)
        for record in committed.records:
            key = (record.kind, record.id)
            held = known.setdefault(key, (record, at, digest))
            if held[0] == record:
                continue
            new, old = ObjectClaim(body(record), at, digest), ObjectClaim(body(held[0]), held[1], held[2])
            wins = takes_precedence(record.kind, new, old)
            if wins:
                known[key] = (record, at, digest)
            if not records_agree(record.kind, new.body, old.body):
                right, wrong = (digest, held[2]) if wins else (held[2], digest)
                text = f"the {record.kind} {record.id} differs from its version in object {right}, which counts"
                next = "remove the wrong object, then worksample store rebuild"
                faults.append(StoreFault(text, f"{name}/{paths[wrong]}", next))
    return known, sound


def _rows(store: Store, known: Known, paths: dict[str, str], sound: set[str]) -> Iterator[StoreFault]:
    where = store.database.shown
    with store.database.reading() as connection:
        commits = schema.commits.c
        there = select(commits.digest).where(commits.records != index.REFUSED)
        indexed = set(connection.execute(there).scalars())
        for digest in sorted(sound - indexed):
            yield StoreFault("an object is not in the index", f"{store.name}/{paths[digest]}", _REBUILD)
        for digest in sorted(indexed - paths.keys()):
            yield StoreFault(f"the index refers to an object that is missing: {digest}", where, _RESTORE)
        seen = set()
        for kind, table in schema.TABLES.items():
            for id, text in connection.execute(select(table.c.id, table.c.body)):
                seen.add((kind, id))
                held = known.get((kind, id))
                if held is None:
                    yield StoreFault(
                        f"the index has a row for {kind} {id}, but the store has no object for it", where, _RESTORE
                    )
                elif body(held[0]) != text:
                    yield StoreFault(f"the index row of {kind} {id} differs from the stored object", where, _REBUILD)
        for kind, id in sorted(known.keys() - seen):
            if known[kind, id][2] in indexed:
                yield StoreFault(f"{kind} {id} has no row in the index", where, _REBUILD)
        trials = schema.trials.c
        slots = sorted(set(connection.execute(select(trials.slot)).scalars()))
        live = set(connection.execute(select(trials.id).where(trials.live)).scalars())
        standing = {
            slot: ids for some in index.chunks(slots) for slot, ids in index.standing_trials(connection, some).items()
        }
        for id in sorted(live ^ {ids[0] for ids in standing.values()}):
            yield StoreFault(f"the index marks the wrong trial of a slot as the one that counts: {id}", where, _REBUILD)
        yield from _twice(standing)


def _twice(standing: Mapping[str, Sequence[str]]) -> Iterator[StoreFault]:
    """Yield a fault for each slot that two processes finished. This happened in earlier versions, and can happen after
    a merge.
    """
    for slot, (live, *others) in sorted(standing.items()):
        for other in others:
            text = f"its slot was finished twice: trial {live} counts, this one does not"
            next = f'worksample amend strike trial {other} --reason "the slot was finished twice"'
            yield StoreFault(text, f"trial {other} of slot {slot}", next)


def _graded_twice(known: Known) -> Iterator[StoreFault]:
    """Yield a fault for each evaluation that a program or a judge made twice in one round. People may answer more than
    once.
    """
    records = [record for record, _, _ in known.values()]
    out = {
        id
        for target, id in struck(r for r in records if isinstance(r, Amendment))
        if target is AmendmentTarget.EVALUATION
    }
    asked = {r.id for r in records if isinstance(r, Evaluator) and r.type is not EvaluatorKind.PERSON}
    places: dict[tuple[object, ...], list[Evaluation]] = {}
    for one in records:
        if (
            isinstance(one, Evaluation)
            and one.outcome is EvaluationOutcome.GIVEN
            and one.evaluator in asked
            and one.id not in out
        ):
            places.setdefault((one.round, one.subject, one.second, one.evaluator, one.draw), []).append(one)
    for made in places.values():
        *others, last = sorted(made, key=lambda one: (one.at, one.id))
        for one in others:
            text = f"its submission was graded twice by one evaluator: evaluation {last.id} counts, this one does not"
            next = f'worksample amend strike evaluation {one.id} --reason "graded twice"'
            yield StoreFault(text, f"evaluation {one.id} of submission {one.subject}", next)


def _dangling(known: Known, paths: dict[str, str]) -> Iterator[StoreFault]:
    for (kind, id), (record, _, digest) in sorted(known.items()):
        for other, target in ids_of(record):
            if (other, target) not in known:
                yield StoreFault(
                    f"{kind} {id} refers to the {other} {target}, but the store lacks it", paths[digest], _RESTORE
                )


def _blobs(store: Store, known: Known) -> Iterator[StoreFault]:
    done: set[str] = set()
    for (kind, id), (record, _, _) in sorted(known.items()):
        for digest, is_manifest in blobs_of(record):
            if digest in done:
                continue
            done.add(digest)
            owner = f"{kind} {id}"
            if not store.blobs.has(digest):
                yield _lacking(store, digest, owner)
            elif is_manifest:
                yield from _manifest(store, digest, owner, done)


def _manifest(store: Store, digest: str, owner: str, done: set[str]) -> Iterator[StoreFault]:
    try:
        manifest: Manifest = store.manifest(digest)
    except (CaptureError, StoreError) as e:
        yield StoreFault(
            f"a manifest of {owner} cannot be read: {e.what}", f"{store.name}/{blob_path(digest)}", _RESTORE
        )
        return
    for entry in manifest.files:
        if entry.blob is None or entry.blob in done:
            continue
        done.add(entry.blob)
        if not store.blobs.has(entry.blob):
            yield _lacking(store, entry.blob, f"{owner}, {entry.path}")
        elif store.far is None and store.blobs.path(entry.blob).stat().st_size != entry.size:
            text = f"a blob of {owner} does not have the size of {entry.path}"
            yield StoreFault(text, f"{store.name}/{blob_path(entry.blob)}", _RESTORE)


def _lacking(store: Store, digest: str, owner: str) -> StoreFault:
    return StoreFault(f"a blob of {owner} is missing", f"{store.name}/{blob_path(digest)}", _RESTORE)


def _contents(store: Store) -> Iterator[StoreFault]:
    for digest in store.blobs.all():
        where = f"{store.name}/{blob_path(digest)}"
        try:
            with store.blobs.open(digest) as f:
                found = copy_file(f.fileno(), None, 1 << 62).digest
        except (OSError, StoreError) as e:
            yield StoreFault(f"a blob cannot be read: {e}", where, _RESTORE)
            continue
        if found != digest:
            yield StoreFault(
                "the blob is damaged: its content does not match its name", where, f"remove it; then {_RESTORE}"
            )
