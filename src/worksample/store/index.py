"""Rows for records: insertion, conflicts, and which trial of a slot is live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection, bindparam, delete, select, update

from worksample.records import Amendment, Record, Target, struck

from . import schema
from .objects import Committed
from .prepared import Prepared
from .rivals import agree, beats, conflict
from .rows import Row, micros, row

T = TypeVar("T")
_AT_ONCE = 500
_KNOWN = {
    kind: Prepared(select(table.c.id, table.c.body, table.c.object).where(table.c.id == bindparam("its_id")))
    for kind, table in schema.TABLES.items()
}
_INSERT = {kind: Prepared(table.insert()) for kind, table in schema.TABLES.items()}
_STAMP = Prepared(schema.commits.insert())


def chunks(items: Sequence[T], size: int = _AT_ONCE) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@dataclass
class Staged:
    """What is to be written: per kind the records that are new, with their rows."""

    new: dict[str, list[tuple[Record, Row]]] = field(default_factory=dict)
    beaten: dict[str, list[str]] = field(default_factory=dict)
    """Ids of rows that give way to others."""
    held: str = ""
    """An object that holds one of the records that are not new."""

    @property
    def records(self) -> list[Record]:
        return [record for rows in self.new.values() for record, _ in rows]

    def stamp(self, object: str) -> None:
        """They lie in this object."""
        for rows in self.new.values():
            for _, values in rows:
                values["object"] = object


def stage(connection: Connection, records: Iterable[tuple[Record, str]], *, strict: bool) -> Staged:
    """Sort out which records (each with the object it lies in) the index lacks.

    `strict`, for new records: raises RecordConflict where one of the same kind and id says something else. Else, for
    stored ones, `rivals.beats` says which of two counts, in whatever order they come: contradictions come from copied
    files alone, and `check` reports them.
    """
    staged = Staged()
    for kind, by_id in _rows(records, strict=strict).items():
        known = _known(connection, kind, list(by_id))
        for id, (record, values) in by_id.items():
            old = known.get(id)
            if old is None:
                staged.new.setdefault(kind, []).append((record, values))
                continue
            staged.held = staged.held or old[1]
            if strict:
                if not agree(kind, old[0], values["body"]):
                    raise conflict(kind, id)
            elif beats(kind, _claim(values), old):
                staged.new.setdefault(kind, []).append((record, values))
                staged.beaten.setdefault(kind, []).append(id)
    return staged


def write(connection: Connection, staged: Staged, commits: Sequence[Committed]) -> int:
    """Insert what was staged from these objects; returns how many rows were written."""
    touched = set[str]()
    for kind, ids in staged.beaten.items():
        touched |= _remove(connection, kind, ids)
    for kind, pairs in staged.new.items():
        rows = [values for _, values in pairs]
        _INSERT[kind].many(connection, rows)
        touched |= _slots(connection, kind, rows)
    stamps = [{"digest": c.digest, "at": micros(c.at), "records": len(c.records)} for c in commits]
    _STAMP.many(connection, stamps)
    settle(connection, touched)
    return sum(map(len, staged.new.values()))


def apply(connection: Connection, commits: Sequence[Committed]) -> int:
    """Index whole objects; returns how many rows were written."""
    records = ((record, c.digest) for c in commits for record in c.records)
    return write(connection, stage(connection, records, strict=False), commits)


def clear(connection: Connection) -> None:
    """Empty everything that can be made anew from the objects."""
    for table in (*schema.TABLES.values(), schema.commits):
        connection.execute(delete(table))


def _rows(records: Iterable[tuple[Record, str]], *, strict: bool) -> dict[str, dict[str, tuple[Record, Row]]]:
    """Per kind and id the one that counts. `strict`: raises RecordConflict for two that contradict each other."""
    out: dict[str, dict[str, tuple[Record, Row]]] = {}
    for record, object in records:
        values = row(record, object)
        by_id = out.setdefault(record.kind, {})
        held = by_id.setdefault(record.id, (record, values))
        if strict and not agree(record.kind, held[1]["body"], values["body"]):
            raise conflict(record.kind, record.id)
        if beats(record.kind, _claim(values), _claim(held[1])):
            by_id[record.id] = (record, values)
    return out


def _known(connection: Connection, kind: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Id -> body and object of the rows that exist."""
    if len(ids) == 1:
        row = _KNOWN[kind].first(connection, {"its_id": ids[0]})
        return {} if row is None else {row.id: (row.body, row.object)}
    table, out = schema.TABLES[kind], dict[str, tuple[str, str]]()
    for some in chunks(ids):
        query = select(table.c.id, table.c.body, table.c.object).where(table.c.id.in_(some))
        out |= {id: (body, object) for id, body, object in connection.execute(query)}
    return out


def _claim(values: Row) -> tuple[str, str]:
    return values["body"], values["object"]


def _remove(connection: Connection, kind: str, ids: list[str]) -> set[str]:
    """Remove rows that give way to others; returns the slots whose live trial that may change."""
    table, trials, slots = schema.TABLES[kind], schema.trials.c, set[str]()
    for some in chunks(ids):
        if kind == "trial":
            slots |= set(connection.execute(select(trials.slot).where(trials.id.in_(some))).scalars())
        connection.execute(delete(table).where(table.c.id.in_(some)))
    return slots


def _slots(connection: Connection, kind: str, rows: Sequence[Row]) -> set[str]:
    """The slots whose live trial these new rows may change."""
    if kind == "trial":
        return {str(r["slot"]) for r in rows}
    if kind != "amendment":
        return set()
    ids, trials, out = [r["target_id"] for r in rows if r["target"] == Target.TRIAL], schema.trials, set[str]()
    for some in chunks(ids):
        out |= set(connection.execute(select(trials.c.slot).where(trials.c.id.in_(some))).scalars())
    return out


def settle(connection: Connection, slots: Iterable[str]) -> None:
    """Set `live` anew for all trials of these slots.

    Of a slot's finished trials that are not struck the first by `ended`, then id, is live. That depends on the set of
    records alone and not on the order in which they came.
    """
    trials = schema.trials
    for some in chunks(sorted(slots)):
        now = set(connection.execute(select(trials.c.id).where(trials.c.slot.in_(some), trials.c.live)).scalars())
        right = set(choose_live(connection, some).values())
        # First those that end, so that no slot ever has two.
        for ids, live in ((now - right, False), (right - now, True)):
            if ids:
                connection.execute(update(trials).where(trials.c.id.in_(sorted(ids))).values(live=live))


def choose_live(connection: Connection, slots: Sequence[str]) -> dict[str, str]:
    """Slot -> the trial that is live, for those of `slots` (at most some hundreds) that have one."""
    trials = schema.trials
    query = select(trials.c.slot, trials.c.ended, trials.c.id).where(trials.c.slot.in_(slots), trials.c.finished)
    found = sorted(connection.execute(query), key=lambda r: (r[1], r[2]))
    out = struck_trials(connection, [r[2] for r in found])
    live: dict[str, str] = {}
    for slot, _, id in found:
        if id not in out:
            live.setdefault(slot, id)
    return live


def struck_trials(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Those of `ids` that are struck now."""
    table, found = schema.amendments, list[Amendment]()
    for some in chunks(ids):
        query = select(table.c.body).where(table.c.target == Target.TRIAL.value, table.c.target_id.in_(some))
        found += [Amendment.model_validate_json(body) for body in connection.execute(query).scalars()]
    return {id for _, id in struck(found)}
