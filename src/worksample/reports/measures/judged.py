"""Which rounds count, and what they resolve to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
from sqlalchemy import select

from worksample.records import (
    KIND,
    OVER,
    Amendment,
    Evaluation,
    Experiment,
    Given,
    Grade,
    GradePart,
    Protocol,
    Round,
    Target,
)
from worksample.store import Store, schema
from worksample.store.verdict_frame import overrule_frame, said_frame, verdict_frame

_NAMES = {"id", "reason", "author", "at"}
ASIDE = frozenset({"tags", "integrity", "pilot", "calibration"})
"""Kinds of rounds by people that judge no work."""
LOOKS = frozenset({"audit", "false_negatives", "reliability", "adjudication"})
"""Kinds that look again at the work of another round, which they name."""
_HANDED_IN = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})
"""Protocols under which work that is handed in is graded at once."""
_AT_ONCE = 500
_PARTS = {
    "evaluation": pl.String,
    "subject": pl.String,
    "name": pl.String,
    "importance": pl.String,
    "skip": pl.String,
    "passed": pl.Boolean,
}


@dataclass(frozen=True)
class Judged:
    """A round, its verdicts by subject (see `verdict_frame`), and the evaluations that stand and were given (see
    `said_frame`).

    `alike`: the ids of all rounds that were taken together.
    """

    round: Round
    verdicts: pl.DataFrame
    given: pl.DataFrame
    alike: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What a round by people is for; "" where that is not said."""
        return self.round.versions.get(KIND, "")

    @property
    def own(self) -> pl.DataFrame:
        """The verdicts that no audit and no adjudication changed."""
        return self.verdicts.filter(pl.col("by") == "votes")

    @property
    def reviewed(self) -> int:
        """How many verdicts an audit or an adjudication decided, against the votes or in their place."""
        return self.verdicts.height - self.own.height


@dataclass(frozen=True)
class Bench:
    """All judging of some experiments: by protocol what counts, and the second looks at some of it."""

    counting: dict[Protocol, tuple[Judged, ...]] = field(default_factory=dict)
    again: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reader:
    """`misses`: what was skipped, for whatever cause, counts as missed (UpBench's formula, 5.2.1)."""

    store: Store
    amendments: Sequence[Amendment]
    misses: bool

    def judged(self, round: Round, among: Iterable[Round]) -> Judged:
        like = round.model_dump(exclude=_NAMES)
        return self.together(round, [r.id for r in among if r.model_dump(exclude=_NAMES) == like])

    def together(self, round: Round, alike: Sequence[str]) -> Judged:
        """The evaluations of several rounds, as if all were of `round`."""
        with self.store.database.reading() as connection:
            said = said_frame(connection, alike, self.amendments)
        if self.misses and round.protocol is Protocol.RUBRIC:
            said = said.with_columns(undecided=pl.lit(None, dtype=pl.String))
        given = said.filter(~pl.col("struck") & (pl.col("outcome") == Given.GIVEN.value))
        return Judged(round, verdict_frame(round, said), given, tuple(alike))


def judge(
    store: Store,
    experiments: Sequence[Experiment],
    submissions: frozenset[str],
    amendments: Sequence[Amendment],
    *,
    handed: frozenset[str] = frozenset(),
    misses: bool = False,
) -> Bench:
    """Of each protocol the rounds that count for these experiments, resolved.

    An experiment's latest round under a protocol counts, together with rounds that differ from it in name, reason,
    author and moment only. Where no round is over the experiment as a whole, of the rounds over chosen submissions the
    one with the most subjects counts, then the latest; the others are second looks. Of the looks that name the round
    that they look at, an adjudication decides, and else an audit turns what had passed into what did not (RLI B.5).
    Submissions that were `handed` in are graded in rounds of their own, which count beside. `misses`: skips of a rubric
    are misses.
    """
    reader = _Reader(store, amendments, misses)
    rounds = sorted(store.find(Round), key=lambda r: (r.at, r.id))
    ids = {e.id for e in experiments}
    counting: dict[Protocol, tuple[Judged, ...]] = {}
    again: list[Judged] = []
    for protocol in Protocol:
        mine = [r for r in rounds if r.protocol is protocol and r.versions.get(KIND) not in ASIDE]
        plain = [r for r in mine if r.versions.get(KIND) not in LOOKS]
        whole = [r for r in plain if r.experiment in ids]
        chosen = [r for r in plain if r.experiment is None and submissions.intersection(r.subjects)]
        latest = list({r.experiment: r for r in whole}.values())
        if not latest and chosen:
            latest = [max(chosen, key=lambda r: (len(r.subjects), r.at, r.id))]
        used = {r.id for r in latest}
        said = [reader.judged(r, whole if r.experiment else [r]) for r in latest]
        looks = [r for r in mine if r not in plain and any(r.versions.get(OVER) in j.alike for j in said)]
        found = [reader.judged(r, [r]) for r in looks]
        if said:
            counting[protocol] = tuple(_after(j, found) for j in said)
        again += found
        if protocol is Protocol.HOLISTIC:
            again += [reader.judged(r, [r]) for r in chosen if r.id not in used]
        if protocol in counting and protocol in _HANDED_IN:
            seen = {id for j in counting[protocol] for id in j.alike}
            counting[protocol] += tuple(_handed_in(reader, [r for r in plain if r.id not in seen], handed))
    return Bench(counting, tuple(again))


def _handed_in(reader: _Reader, rounds: Sequence[Round], handed: frozenset[str]) -> Iterator[Judged]:
    """What the rounds of their own say of work handed in, each of which is one round over one submission."""
    alike: dict[tuple[str, int], list[Round]] = {}
    for round in rounds:
        if round.experiment is None and handed.issuperset(round.subjects):
            alike.setdefault((round.rule.value, round.overlap), []).append(round)
    for group in alike.values():
        latest = {subject: round.id for round in group for subject in round.subjects}
        yield reader.together(group[-1], sorted(set(latest.values())))


def _after(judged: Judged, looks: Sequence[Judged]) -> Judged:
    """The round as it stands after those looks at it."""
    mine = [j for j in looks if j.round.versions.get(OVER) in judged.alike]
    kinds = ([j.verdicts for j in mine if j.kind == kind] for kind in ("audit", "adjudication"))
    return replace(judged, verdicts=overrule_frame(judged.verdicts, *kinds))


def without_reviews(amendments: Iterable[Amendment]) -> list[Amendment]:
    """The amendments without those on trials and submissions: everything handed in counts, invalid votes do not."""
    return [a for a in amendments if a.target not in (Target.TRIAL, Target.SUBMISSION)]


def leaves(parts: Iterable[GradePart]) -> Iterable[GradePart]:
    """The criteria of a grade, without the branches over them."""
    for part in parts:
        yield from leaves(part.parts) if part.parts else (part,)


def read_grades(store: Store, evaluations: Sequence[str]) -> Iterator[tuple[str, Grade]]:
    """Evaluation and grade, for those of these evaluations that give one."""
    table = schema.evaluations.c
    with store.database.reading() as connection:
        for start in range(0, len(evaluations), _AT_ONCE):
            query = select(table.body).where(table.id.in_(evaluations[start : start + _AT_ONCE]))
            for body in connection.execute(query).scalars():
                said = Evaluation.model_validate_json(body)
                if isinstance(said.payload, Grade):
                    yield said.id, said.payload


def criteria(store: Store, judged: Judged) -> pl.DataFrame:
    """A row per criterion that somebody graded in a round: evaluation, subject, name, importance, skip, passed."""
    graded = judged.given.filter(pl.col("payload") == "grade").select("evaluation", "subject")
    subjects = dict(graded.iter_rows())
    rows = [
        (id, subjects[id], p.name, p.importance and p.importance.value, p.skip and p.skip.value, p.passed)
        for id, grade in read_grades(store, list(subjects))
        for p in leaves(grade.parts)
    ]
    return pl.DataFrame(rows, schema=_PARTS, orient="row")


def why(grade: Grade, length: int = 300) -> str:
    """The reasons that a grade gives: of the parts without all their points, else its own."""
    missed = [p for p in leaves(grade.parts) if not p.passed]
    said = "; ".join(f"{p.name}: {p.reason or _points(p)}" for p in missed) or grade.reason
    return said if len(said) <= length else f"{said[: length - 1]}…"


def _points(part: GradePart) -> str:
    if part.fraction is None:
        return str(part.skip).replace("_", " ") if part.skip else "skipped"
    return f"{part.fraction * part.points:g} of {part.points:g}"
