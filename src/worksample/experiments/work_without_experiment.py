"""Work that was handed in without an experiment, with its verdicts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from worksample.records import Amendment, AmendmentTarget, Instance, Origin, Purpose, Standing, Submission, struck
from worksample.store import Store


@dataclass(frozen=True)
class HandedInWork:
    """Work that belongs to no experiment. A person or an outside agent made it.

    `standing` is `decided`, `undecided` or `ungraded`. `score` (0 to 1) and `passed` are None unless the standing is
    `decided`.
    """

    submission: str
    at: str
    entrant: str
    origin: str
    instance: str
    """Task name and instance name, such as `my-task/march`."""
    standing: str
    score: float | None = None
    passed: bool | None = None
    reason: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return asdict(self)


def handed_in_alone(store: Store) -> tuple[HandedInWork, ...]:
    """List the work that was handed in without an experiment, the oldest first. Struck work is left out.

    The verdict of each submission is that of its last round.
    """
    amendments = store.find(Amendment)
    gone = struck(amendments)
    made = store.find(Submission, origin=[Origin.EXTERNAL, Origin.PERSON])
    alone = [
        s for s in made if s.experiment is None and s.trial is None and (AmendmentTarget.SUBMISSION, s.id) not in gone
    ]
    if not alone:
        return ()
    verdicts = _verdicts(store, amendments, {s.id for s in alone})
    keys = {id: store.get(Instance, id).key for id in {s.instance for s in alone}}
    out = []
    for s in sorted(alone, key=lambda s: (s.at, s.id)):
        told = verdicts.get(s.id, {})
        standing = told.get("standing", Standing.UNGRADED.value)
        known = standing == Standing.DECIDED.value
        out.append(
            HandedInWork(
                s.id, s.plain()["at"], s.entrant, s.origin.value, keys[s.instance], standing,
                told["score"] if known else None, told["passed"] if known else None, told.get("reason") or "",
            )
        )  # fmt: skip
    return tuple(out)


def _verdicts(store: Store, amendments: list[Amendment], subjects: set[str]) -> dict[str, dict[str, Any]]:
    """Return the verdict of each submission, as a row of the table of verdicts."""
    from worksample.results.judged_rounds import RoundReader

    judging = RoundReader(store, amendments)
    found: dict[str, dict[str, Any]] = {}
    for round in sorted(judging.found.rounds, key=lambda r: (r.at, r.id)):
        if round.experiment is None and round.purpose in (Purpose.GRADING, Purpose.REGRADE):
            if subjects.isdisjoint(round.subjects):
                continue
            for row in judging.read_with_looks(round)[0].verdicts.iter_rows(named=True):
                if row["subject"] in subjects:
                    found[row["subject"]] = row
    return found
