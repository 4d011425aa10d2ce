"""Hand-in of a table of finished work. First all rows are checked, then all work is stored, then it is graded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import FaultyRows, WorksampleError
from worksample.grading import Evaluators, grade_all, open_round
from worksample.records import Evaluation, Experiment, Instance, Protocol, Round, Submission
from worksample.stall_tolerant_loop import run_steadily
from worksample.store import Store

from .finished_work import WorkPiece, commit_piece, find_submission, piece_of
from .finished_work_table import read_work
from .package_intake import ingest_package

BY_PROGRAM = (Protocol.PROGRAM, Protocol.CHECKPOINTS)


@dataclass(frozen=True)
class HandInMany:
    """Request to hand in the work of a table: the table, its formats, and how the work is graded."""

    table: Path
    experiment: Experiment | None = None
    """Experiment whose rounds judge the work. If None, programs grade the work at once, in a round of its own."""
    author: str = ""
    graders: int = 2
    sandbox: str = "bubblewrap"
    encoding: str = ""
    """Encoding of a CSV table; "" means UTF-8, or an encoding detected from the first bytes."""
    decimal: str = ""
    dates: str = ""
    sheet: str = ""
    """Name of the workbook's sheet that has the table, for an XLSX file."""


@dataclass(frozen=True)
class HandedInMany:
    """Result of handing in a table: the submissions of all rows in order, the number of new submissions (`taken`), and
    the rounds that graded them.
    """

    submissions: tuple[Submission, ...]
    taken: int
    rounds: tuple[Round, ...] = ()
    graded: int = 0
    ungraded: int = 0


def hand_in_many(
    store: Store, what: HandInMany, *, grade_now: bool = True, on_done: Callable[[Submission], None] = lambda s: None
) -> HandedInMany:
    """Store the work of all rows of a table. If one row is wrong, store nothing.

    If the process is killed, a repeated call stores the missing rows. The instance, the entrant and the repeat identify
    a row: if the store has the same work for them, the row is skipped, and if it has different work, the row is wrong.
    Raises FaultyRows, which names every wrong row. Raises ImportFailed if the table cannot be read, and ManifestError
    if a task package is invalid.
    """
    pieces = _check_rows(store, what)
    made, taken = [], 0
    for piece in pieces:
        known = find_submission(store, piece.id)
        if known is None:
            known = commit_piece(store, piece, what.author)
            taken += 1
            on_done(known)
        made.append(known)
    if not grade_now or what.experiment is not None:
        return HandedInMany(tuple(made), taken)
    rounds = [r for p in BY_PROGRAM if (r := _round(store, made, p, what)) is not None]
    for round in rounds:
        run_steadily(grade_all(store, round, parallel=what.graders, here=Evaluators(what.sandbox)))
    said = {e.subject for r in rounds for e in store.find(Evaluation, round=r.id) if e.payload is not None}
    asked = {s for r in rounds for s in r.subjects}
    return HandedInMany(tuple(made), taken, tuple(rounds), len(said), len(asked - said))


def _check_rows(store: Store, what: HandInMany) -> list[WorkPiece]:
    base = what.table.resolve().parent
    rows = read_work(what.table, encoding=what.encoding, decimal=what.decimal, dates=what.dates, sheet=what.sheet)
    faults = dict[str, str]()
    packages: dict[Path, tuple[Instance, ...] | WorksampleError] = {}
    pieces, seen = [], dict[str, int]()
    for number, row in enumerate(rows, 1):
        try:
            instances = _instances(store, base / row.task, packages)
            piece = piece_of(store, instances, row.instance, base / row.path, row.origin, what.experiment)
        except WorksampleError as error:
            faults[f"row {number}"] = str(error).splitlines()[0]
            continue
        if piece.id in seen:
            faults[f"row {number}"] = f"repeats row {seen[piece.id]}: the same instance, entrant and repeat"
        seen.setdefault(piece.id, number)
        pieces.append(piece)
    if faults:
        raise FaultyRows(faults, where=str(what.table), rows=len(rows))
    return pieces


def _instances(
    store: Store, folder: Path, packages: dict[Path, tuple[Instance, ...] | WorksampleError]
) -> tuple[Instance, ...]:
    """Return the instances of a package. Each package is read only once; `packages` is the cache."""
    if folder not in packages:
        try:
            packages[folder] = ingest_package(store, folder).instances
        except WorksampleError as error:
            packages[folder] = error
    found = packages[folder]
    if isinstance(found, WorksampleError):
        raise found
    return found


def _round(store: Store, made: Sequence[Submission], protocol: Protocol, what: HandInMany) -> Round | None:
    """Open a round over those submissions that have no evaluation and that a program can grade under the protocol."""
    first = {s.id: next((p for p in BY_PROGRAM if p in store.get(Instance, s.instance).grading), None) for s in made}
    mine = [s.id for s in made if first[s.id] is protocol and not store.find(Evaluation, subject=s.id)]
    if not mine:
        return None
    return open_round(store, subjects=mine, protocol=protocol, author=what.author, reason="graded as it was handed in")
