"""Hand-in of a table of finished work: all rows are checked, then stored, then graded."""

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
    """Table of work to hand in, and how to grade it."""

    table: Path
    experiment: Experiment | None = None
    """Experiment whose rounds judge the work; None: programs grade it at once, in a round of its own."""
    author: str = ""
    graders: int = 2
    sandbox: str = "bubblewrap"
    encoding: str = ""
    """Encoding of a CSV; "": UTF-8, or detected from its first bytes."""
    decimal: str = ""
    dates: str = ""
    sheet: str = ""
    """Decimal mark of its numbers; "": detected for each column."""


@dataclass(frozen=True)
class HandedInMany:
    """Submissions of all rows in order, the number of new ones (`taken`), and the rounds that graded them."""

    submissions: tuple[Submission, ...]
    taken: int
    rounds: tuple[Round, ...] = ()
    graded: int = 0
    ungraded: int = 0


def hand_in_many(
    store: Store, what: HandInMany, *, grade_now: bool = True, on_done: Callable[[Submission], None] = lambda s: None
) -> HandedInMany:
    """Store all rows of a table, or none if one is wrong. After a kill, a repeated call stores the missing rows.

    A row is identified by instance, entrant and repeat: the same work is skipped, and different work is a fault.
    FaultyRows names every wrong row; other errors are ImportFailed and ManifestError.
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
    """Read a package's instances, once per package."""
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
    """Open a round over the submissions that a program grades under the protocol and that have no evaluation."""
    first = {s.id: next((p for p in BY_PROGRAM if p in store.get(Instance, s.instance).grading), None) for s in made}
    mine = [s.id for s in made if first[s.id] is protocol and not store.find(Evaluation, subject=s.id)]
    if not mine:
        return None
    return open_round(store, subjects=mine, protocol=protocol, author=what.author, reason="graded as it was handed in")
