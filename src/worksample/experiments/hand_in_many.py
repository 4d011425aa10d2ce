"""Hundreds of finished pieces of work at once: all are checked, then all are taken in, then they are graded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import FaultyRows, RecordMissing, WorksampleError
from worksample.files import HashSink
from worksample.grading import Evaluators, grade_all, open_round
from worksample.records import Evaluation, Experiment, Instance, Part, Protocol, Reported, Round, Submission, digest_of
from worksample.store import Store
from worksample.submissions import hand_in, look_at

from .hand_in import chosen
from .ingesting import ingest_package
from .work_table import WorkRow, read_work

BY_PROGRAM = (Protocol.PROGRAM, Protocol.CHECKPOINTS)


@dataclass(frozen=True)
class HandInMany:
    """What is handed in, and for what."""

    table: Path
    experiment: Experiment | None = None
    """Whose rounds judge it, with its agents' work; None: programs at once, in a round of its own."""
    author: str = ""
    graders: int = 2
    sandbox: str = "bubblewrap"


@dataclass(frozen=True)
class HandedInMany:
    """`submissions`: of all rows, in their order. `taken`: how many of them are new. `rounds`: in which they were
    graded.
    """

    submissions: tuple[Submission, ...]
    taken: int
    rounds: tuple[Round, ...] = ()
    graded: int = 0
    ungraded: int = 0


@dataclass(frozen=True)
class _Piece:
    row: WorkRow
    instance: Instance
    path: Path
    part: Part
    id: str


def hand_in_many(
    store: Store, what: HandInMany, *, grade_now: bool = True, on_done: Callable[[Submission], None] = lambda s: None
) -> HandedInMany:
    """Take in all rows of a table, or none where one is wrong. Called again after a kill it takes in what is missing.

    A row is known by its instance, who made it, and its repeat: the same work again is passed over, other work under
    the same three is a fault. FaultyRows names every row that is wrong; ImportFailed, ManifestError as they say.
    """
    pieces = _checked(store, what)
    made, taken = [], 0
    for piece in pieces:
        known = _known(store, piece.id)
        if known is None:
            known = _take(store, piece, what)
            taken += 1
            on_done(known)
        made.append(known)
    if not grade_now or what.experiment is not None:
        return HandedInMany(tuple(made), taken)
    rounds = [r for p in BY_PROGRAM if (r := _round(store, made, p, what)) is not None]
    for round in rounds:
        asyncio.run(grade_all(store, round, parallel=what.graders, here=Evaluators(what.sandbox)))
    said = {e.subject for r in rounds for e in store.find(Evaluation, round=r.id) if e.payload is not None}
    asked = {s for r in rounds for s in r.subjects}
    return HandedInMany(tuple(made), taken, tuple(rounds), len(said), len(asked - said))


def _checked(store: Store, what: HandInMany) -> list[_Piece]:
    base = what.table.resolve().parent
    rows, faults = read_work(what.table), dict[str, str]()
    packages: dict[Path, tuple[Instance, ...] | WorksampleError] = {}
    pieces, seen = [], dict[str, int]()
    for number, row in enumerate(rows, 1):
        try:
            instance = chosen(_instances(store, base / row.task, packages), row.instance)
            piece = _piece(what, row, _planned(store, what, instance), base / row.path)
            _compare(store, piece)
        except WorksampleError as error:
            faults[f"row {number}"] = str(error).splitlines()[0]
            continue
        if piece.id in seen:
            faults[f"row {number}"] = f"is row {seen[piece.id]} again: the same instance, entrant and repeat"
        seen.setdefault(piece.id, number)
        pieces.append(piece)
    if faults:
        raise FaultyRows(faults)
    return pieces


def _instances(
    store: Store, folder: Path, packages: dict[Path, tuple[Instance, ...] | WorksampleError]
) -> tuple[Instance, ...]:
    """Of a package, read once."""
    if folder not in packages:
        try:
            packages[folder] = ingest_package(store, folder).instances
        except WorksampleError as error:
            packages[folder] = error
    found = packages[folder]
    if isinstance(found, WorksampleError):
        raise found
    return found


def _planned(store: Store, what: HandInMany, instance: Instance) -> Instance:
    """The instance as the experiment planned it."""
    if what.experiment is None:
        return instance
    planned = [store.get(Instance, id) for id in what.experiment.lock.instances]
    found = next((p for p in planned if p.key == instance.key), None)
    if found is None:
        raise FaultyRows({instance.key: f"is not in {what.experiment.name}"})
    if (found.work_digest, found.capture_digest) != (instance.work_digest, instance.capture_digest):
        raise FaultyRows({instance.key: f"is other work in {what.experiment.name}: brief, inputs or probes differ"})
    return found


def _piece(what: HandInMany, row: WorkRow, instance: Instance, path: Path) -> _Piece:
    part, _ = look_at(instance, path, HashSink())
    experiment = what.experiment.id if what.experiment else None
    id = digest_of(["handed in", experiment, instance.id, row.origin.value, row.entrant, row.repeat])[:32]
    return _Piece(row, instance, path, part, id)


def _compare(store: Store, piece: _Piece) -> None:
    known = _known(store, piece.id)
    if known is not None and known.parts["output"].manifest != piece.part.manifest:
        raise FaultyRows({piece.row.path: f"differs from what was handed in as {known.id}; give it another repeat"})


def _known(store: Store, id: str) -> Submission | None:
    try:
        return store.get(Submission, id)
    except RecordMissing:
        return None


def _take(store: Store, piece: _Piece, what: HandInMany) -> Submission:
    row = piece.row
    return hand_in(
        store, piece.instance, piece.path, entrant=row.entrant, origin=row.origin, at=row.at,
        reported=Reported(cost=row.cost, minutes=row.minutes), author=what.author, id=piece.id,
        experiment=what.experiment.id if what.experiment else None,
    )  # fmt: skip


def _round(store: Store, made: Sequence[Submission], protocol: Protocol, what: HandInMany) -> Round | None:
    """A round over those that a program grades under the protocol and nobody has yet."""
    first = {s.id: next((p for p in BY_PROGRAM if p in store.get(Instance, s.instance).grading), None) for s in made}
    mine = [s.id for s in made if first[s.id] is protocol and not store.find(Evaluation, subject=s.id)]
    if not mine:
        return None
    return open_round(store, subjects=mine, protocol=protocol, author=what.author, reason="graded as it was handed in")
