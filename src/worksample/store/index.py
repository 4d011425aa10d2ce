"""The index of records: it inserts rows, detects conflicts, and decides which trial of a slot is live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from typing import TypeVar

from sqlalchemy import Connection, bindparam, delete, select, update

from worksample.errors import Superseded
from worksample.records import Amendment, AmendmentTarget, Record, Trial, struck

from . import schema
from .commit_objects import Committed
from .database import hold
from .prepared_statements import Prepared
from .record_conflicts import ObjectClaim, conflict, records_agree, takes_precedence
from .record_rows import Row, micros, row

T = TypeVar("T")
_AT_ONCE = 500
_KNOWN = {
    kind: Prepared(select(table.c.id, table.c.body, table.c.object).where(table.c.id == bindparam("its_id")))
    for kind, table in schema.TABLES.items()
}
_INSERT = {kind: Prepared(table.insert()) for kind, table in schema.TABLES.items()}
_STAMP = Prepared(schema.commits.insert())
_IS_KNOWN = Prepared(select(schema.commits.c.digest).where(schema.commits.c.digest == bindparam("its_digest")))
_MADE = "made"
"""Key in a row for the time at which the row's object was written. This key is not a column of the table."""
_UNWRITTEN = Committed("", datetime.fromtimestamp(0, UTC), ())
MANY = 200
"""Maximum number of records for which a transaction locks each trial. A larger transaction excludes all other
commits.
"""
REFUSED = -1
"""Value in the column for an object's number of records that marks the object as withdrawn."""


def chunks(items: Sequence[T], size: int = _AT_ONCE) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@dataclass
class Staged:
    """Records that are ready to be written to the index, by kind, with their rows."""

    new: dict[str, list[tuple[Record, Row]]] = field(default_factory=dict)
    beaten: dict[str, list[str]] = field(default_factory=dict)
    """Ids of existing rows that new rows replace, by kind of record."""


def lacking(connection: Connection, records: Iterable[Record]) -> tuple[list[Record], str]:
    """Return those of the given records that the index lacks, each once. Also return the digest of an object that
    contains one of the other records, or "" if there are no others.

    Raises RecordConflict if the index has a different record of the same kind and id.
    """
    missing, held = list[Record](), ""
    for kind, by_id in _rows(((r, _UNWRITTEN) for r in records), strict=True).items():
        known = _existing_rows(connection, kind, list(by_id))
        for id, (record, values) in by_id.items():
            if id not in known:
                missing.append(record)
                continue
            _refuse(kind, id, known[id][0], values["body"])
            held = held or known[id][1]
    return missing, held


def enter(connection: Connection, committed: Committed, *, sole: bool = False) -> None:
    """Index a new object, unless another process has indexed it. Raises RecordConflict if a record contradicts a record
    that another process committed in the meantime.

    With `sole`, raises Superseded if the object contains a finished trial of a slot that already has a finished trial.
    """
    records = [(record, committed) for record in committed.records]
    if not is_known(connection, committed.digest):
        write(connection, stage(connection, records, strict=True), [committed], sole=sole)
        return
    for kind, by_id in _rows(records, strict=True).items():
        for id, (body, _) in _existing_rows(connection, kind, list(by_id)).items():
            _refuse(kind, id, body, by_id[id][1]["body"])


def refuse(connection: Connection, committed: Committed) -> bool:
    """Mark an object as withdrawn, so that no process indexes it. Return False if the object is already indexed."""
    if is_known(connection, committed.digest):
        return False
    _STAMP.run(connection, {"digest": committed.digest, "at": micros(committed.at), "records": REFUSED})
    return True


def is_known(connection: Connection, digest: str) -> bool:
    """Return whether this object is indexed or withdrawn."""
    return _IS_KNOWN.fetch_first(connection, {"its_digest": digest}) is not None


def stage(connection: Connection, records: Iterable[tuple[Record, Committed]], *, strict: bool) -> Staged:
    """Select those records that the index lacks, or of which the index has a version that must be replaced.

    `record_conflicts.takes_precedence` decides between two versions; the order in which they arrive has no effect. With
    `strict`, raises RecordConflict if two versions contradict each other. Otherwise one version counts, and `check`
    reports the contradiction.
    """
    staged = Staged()
    for kind, by_id in _rows(records, strict=strict).items():
        known = _existing_rows(connection, kind, list(by_id))
        for id, (record, values) in by_id.items():
            old = known.get(id)
            if old is None:
                staged.new.setdefault(kind, []).append((record, values))
                continue
            if strict:
                _refuse(kind, id, old[0], values["body"])
            if old[0] == values["body"]:
                continue
            if takes_precedence(kind, _claim(values), ObjectClaim(old[0], _made_at(connection, old[1]), old[1])):
                staged.new.setdefault(kind, []).append((record, values))
                staged.beaten.setdefault(kind, []).append(id)
    return staged


def write(connection: Connection, staged: Staged, commits: Sequence[Committed], *, sole: bool = False) -> int:
    """Insert the staged records of these objects into the index, and return the number of rows written.

    With `sole`, raises Superseded if a finished trial belongs to a slot that already has a finished trial.
    """
    _hold_trials(connection, staged)
    touched = set[str]()
    for kind, ids in staged.beaten.items():
        touched |= _remove(connection, kind, ids)
    for kind in sorted(staged.new):
        rows = sorted((values for _, values in staged.new[kind]), key=itemgetter("id"))
        _INSERT[kind].many(connection, [{n: v for n, v in values.items() if n != _MADE} for values in rows])
        touched |= _slots(connection, kind, rows)
    if len(touched) <= MANY:
        # From here on, concurrent trials of these slots see this transaction, or this one sees them.
        hold(connection, [f"slot {slot}" for slot in touched])
    stamps = [{"digest": c.digest, "at": micros(c.at), "records": len(c.records)} for c in commits]
    _STAMP.many(connection, stamps)
    finished = [r for r, _ in staged.new.get(Trial.kind, ()) if isinstance(r, Trial) and r.outcome.finished]
    settle(connection, touched, sole=finished if sole else ())
    return sum(map(len, staged.new.values()))


def apply(connection: Connection, commits: Sequence[Committed]) -> int:
    """Index all records of these objects, and return the number of rows written."""
    records = ((record, c) for c in commits for record in c.records)
    return write(connection, stage(connection, records, strict=False), commits)


def clear(connection: Connection) -> None:
    """Delete all rows that can be rebuilt from the objects."""
    for table in (*schema.TABLES.values(), schema.commits):
        connection.execute(delete(table))


def _hold_trials(connection: Connection, staged: Staged) -> None:
    """Lock the new trials and the trials that new amendments strike. Of two concurrent transactions on a trial, the
    second then sees what the first wrote.
    """
    trials = [record.id for record, _ in staged.new.get("trial", ())]
    struck = [r["target_id"] for _, r in staged.new.get("amendment", ()) if r["target"] == AmendmentTarget.TRIAL]
    if len(trials) + len(struck) <= MANY:
        hold(connection, [f"trial {id}" for id in (*trials, *struck)])


def _rows(records: Iterable[tuple[Record, Committed]], *, strict: bool) -> dict[str, dict[str, tuple[Record, Row]]]:
    """Return the version of each record that counts, with its row, by kind and id. With `strict`, raises RecordConflict
    if two versions contradict each other.
    """
    out: dict[str, dict[str, tuple[Record, Row]]] = {}
    for record, committed in records:
        values = row(record, committed.digest) | {_MADE: micros(committed.at)}
        by_id = out.setdefault(record.kind, {})
        held = by_id.setdefault(record.id, (record, values))
        if strict:
            _refuse(record.kind, record.id, held[1]["body"], values["body"])
        if takes_precedence(record.kind, _claim(values), _claim(held[1])):
            by_id[record.id] = (record, values)
    return out


def _refuse(kind: str, id: str, one: str, other: str) -> None:
    if not records_agree(kind, one, other):
        raise conflict(kind, id)


def _existing_rows(connection: Connection, kind: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the body and the object digest of each of these records that the index has, by id."""
    if len(ids) == 1:
        row = _KNOWN[kind].fetch_first(connection, {"its_id": ids[0]})
        return {} if row is None else {row.id: (row.body, row.object)}
    table, out = schema.TABLES[kind], dict[str, tuple[str, str]]()
    for some in chunks(ids):
        query = select(table.c.id, table.c.body, table.c.object).where(table.c.id.in_(some))
        out |= {id: (body, object) for id, body, object in connection.execute(query)}
    return out


def _claim(values: Row) -> ObjectClaim:
    return ObjectClaim(values["body"], values[_MADE], values["object"])


def _made_at(connection: Connection, object: str) -> int:
    """Return the time at which an object was written, in microseconds since 1970."""
    return connection.execute(select(schema.commits.c.at).where(schema.commits.c.digest == object)).scalar() or 0


def _remove(connection: Connection, kind: str, ids: list[str]) -> set[str]:
    """Remove replaced rows, and return the slots whose live trial may change."""
    table, trials, slots = schema.TABLES[kind], schema.trials.c, set[str]()
    for some in chunks(ids):
        if kind == "trial":
            slots |= set(connection.execute(select(trials.slot).where(trials.id.in_(some))).scalars())
        connection.execute(delete(table).where(table.c.id.in_(some)))
    return slots


def _slots(connection: Connection, kind: str, rows: Sequence[Row]) -> set[str]:
    """Return the slots whose live trial may change because of these new rows."""
    if kind == "trial":
        return {str(r["slot"]) for r in rows}
    if kind != "amendment":
        return set()
    ids, trials, out = [r["target_id"] for r in rows if r["target"] == AmendmentTarget.TRIAL], schema.trials, set[str]()
    for some in chunks(ids):
        out |= set(connection.execute(select(trials.c.slot).where(trials.c.id.in_(some))).scalars())
    return out


def settle(connection: Connection, slots: Iterable[str], sole: Sequence[Trial] = ()) -> None:
    """Recompute the column `live` for all trials of these slots. Raises Superseded if a trial in `sole` is not the only
    finished trial of its slot.

    One finished trial of a slot is live; struck trials are ignored. It is the trial with the highest generation of the
    slot's lease; then the trial with the earliest `ended`; then the trial with the smallest id. The result depends only
    on the set of records, and not on the order in which they arrive.
    """
    trials = schema.trials
    for some in chunks(sorted(slots)):
        now = set(connection.execute(select(trials.c.id).where(trials.c.slot.in_(some), trials.c.live)).scalars())
        standing = standing_trials(connection, some)
        _need_sole(standing, sole)
        right = {ids[0] for ids in standing.values()}
        # First clear old live flags, so that no slot ever has two live trials.
        for ids, live in ((now - right, False), (right - now, True)):
            if ids:
                connection.execute(update(trials).where(trials.c.id.in_(sorted(ids))).values(live=live))


def _need_sole(standing: Mapping[str, Sequence[str]], trials: Sequence[Trial]) -> None:
    for trial in trials:
        others = [id for id in standing.get(trial.slot, ()) if id != trial.id]
        if others:
            raise Superseded(
                f"the slot already has a finished trial: {others[0]}", where=trial.slot,
                next=f"to run it again: worksample amend strike trial {others[0]} --reason WHY",
            )  # fmt: skip


def standing_trials(connection: Connection, slots: Sequence[str]) -> dict[str, list[str]]:
    """Return the finished trials of each slot that are not struck, by slot. The live trial comes first."""
    trials = schema.trials
    columns = (trials.c.slot, trials.c.generation, trials.c.ended, trials.c.id)
    query = select(*columns).where(trials.c.slot.in_(slots), trials.c.finished)
    found = sorted(connection.execute(query), key=lambda r: (-r[1], r[2], r[3]))
    out = struck_trials(connection, [r[3] for r in found])
    standing: dict[str, list[str]] = {}
    for slot, _, _, id in found:
        if id not in out:
            standing.setdefault(slot, []).append(id)
    return standing


def struck_trials(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Return those of the given trial ids that are struck."""
    table, found = schema.amendments, list[Amendment]()
    for some in chunks(ids):
        query = select(table.c.body).where(table.c.target == AmendmentTarget.TRIAL.value, table.c.target_id.in_(some))
        found += [Amendment.model_validate_json(body) for body in connection.execute(query).scalars()]
    return {id for _, id in struck(found)}
