"""Figures of a round: progress, agreement, leniency, position bias, throughput, and votes still wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from worksample.people.access.evaluator_profile import person_of, profile_of
from worksample.people.judging.withdrawn_items import WITHDRAWN
from worksample.people.rounds.judging_forms import SPECS
from worksample.people.rounds.queues import Queue, find_queue
from worksample.people.unstruck_evaluations import standing_evaluations
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    Frozen,
    GradePayload,
    Holistic,
    Labels,
    Pairwise,
    Purpose,
    ResolutionRule,
    Round,
    is_accepted,
    is_full,
)
from worksample.store.people_tables import assignments, items

if TYPE_CHECKING:
    from worksample.metrics import Agreement, Estimate
    from worksample.store import Store

_a, _i = assignments.c, items.c


class Progress(Frozen):
    """Progress of a round without its gold items. `open`: evaluations that are wanted and not yet claimed."""

    items: int
    complete: int
    wanted: int
    given: int
    out: int
    open: int
    skipped: int
    struck: int
    withdrawn: int


def progress(store: Store, round: str) -> Progress:
    """Count the items of a queue by state. Raises UsageError if the round is not one by people."""
    with store.database.reading() as connection:
        find_queue(connection, round)
        plain = (_i.queue == round) & _i.expected.is_(None)
        rows = connection.execute(select(_i.id, _i.wanted, _i.free, WITHDRAWN.label("withdrawn")).where(plain)).all()
        join = assignments.join(items, _i.id == _a.item)
        query = select(_a.item, _a.state, func.count()).select_from(join).where(plain).group_by(_a.item, _a.state)
        counts: dict[str, Counter[str]] = {}
        for item, state, count in connection.execute(query):
            counts.setdefault(item, Counter())[state] = count
    total = Counter[str]()
    for states in counts.values():
        total += states
    return Progress(
        items=len(rows),
        complete=sum(counts.get(r.id, Counter())["done"] >= r.wanted for r in rows),
        wanted=sum(r.wanted for r in rows),
        given=total["done"],
        out=total["leased"],
        open=sum(r.free for r in rows if not r.withdrawn),
        skipped=total["skipped"],
        struck=total["struck"],
        withdrawn=sum(r.withdrawn for r in rows),
    )


@dataclass(frozen=True, slots=True)
class EvaluationVotes:
    """Columns with one row per unstruck vote."""

    rows: tuple[Evaluation, ...]
    subject: tuple[str, ...]
    vote: tuple[float, ...]
    """Holistic: 1 to 3. Rubric and jobs: 0 or 1 for full credit. Pairs: 1, 0.5 or 0 for the submission whose id sorts
    first.
    """
    positive: tuple[bool, ...]

    @property
    def people(self) -> list[str]:
        return [person_of(e.evaluator) for e in self.rows]


def votes_of(store: Store, round: str) -> EvaluationVotes:
    """Return the given, unstruck votes of a round."""
    rows, subjects, votes, positive = [], [], [], []
    from worksample.results.judged_rounds import passes_of

    passes = passes_of(store, store.get(Round, round))
    for e in standing_evaluations(store, round):
        value = _vote(e, passes)
        if value is None:
            continue
        rows.append(e)
        subjects.append(" ".join(sorted((e.subject, e.second))) if e.second else e.subject)
        votes.append(value)
        positive.append(bool(is_accepted(value) if isinstance(e.payload, Holistic) else is_full(value)))
    return EvaluationVotes(tuple(rows), tuple(subjects), tuple(votes), tuple(positive))


def _vote(e: Evaluation, passes: Mapping[str, bool]) -> float | None:
    match e.payload:
        case Holistic(score=score):
            return float(score)
        case GradePayload() | Labels():
            return float(passes[e.id]) if e.id in passes else None
        case Pairwise(completion=side):
            toward = {"first": 1.0, "equal": 0.5, "second": 0.0}[side.value]
            return toward if e.subject < (e.second or "") else 1 - toward
        case _:
            return None


def agreement(store: Store, round: str) -> Agreement:
    """Measure share, hard disagreements, alpha, AC1, and agreement on positives; tie-breaking votes are left out."""
    from worksample.metrics import (
        HOLISTIC,
        PASS_FAIL,
        PREFERENCE,
        THREE_VOTES,
        TIE_BREAK,
        Ballots,
        measure_agreement,
    )

    votes = votes_of(store, round)
    record = store.get(Round, round)
    scale = {"holistic": HOLISTIC, "pairwise": PREFERENCE}.get(record.protocol.value, PASS_FAIL)
    if record.purpose is Purpose.QUALIFICATION:
        scale = PASS_FAIL
    ballots = Ballots(
        list(votes.subject), list(votes.vote), votes.people, [e.instance for e in votes.rows],
        [int(e.at.timestamp() * 1e6) for e in votes.rows],
    )  # fmt: skip
    protocol = TIE_BREAK if record.rule in (ResolutionRule.TIE_BREAK, ResolutionRule.VERIFIED) else THREE_VOTES
    return measure_agreement(ballots, scale, protocol)


@dataclass(frozen=True, slots=True)
class Leniency:
    """A person's pass rate, beside that of others on the same items."""

    person: str
    name: str
    own: Estimate
    others: Estimate
    standing: str
    """The background as JSON, to group severity by."""


def leniency(store: Store, round: str) -> list[Leniency]:
    """Return pass rates per person, by id. `others` has no value if nobody else judged the same items."""
    from worksample.metrics import rate

    votes = votes_of(store, round)
    by_subject: dict[str, list[tuple[str, bool]]] = {}
    people = votes.people
    for subject, person, positive in zip(votes.subject, people, votes.positive, strict=True):
        by_subject.setdefault(subject, []).append((person, positive))
    out = []
    for person in sorted(set(people)):
        shared = [rows for rows in by_subject.values() if len(rows) > 1 and any(p == person for p, _ in rows)]
        own = [positive for rows in by_subject.values() for p, positive in rows if p == person]
        rest = [(n, yes) for n, rows in enumerate(shared) for p, yes in rows if p != person]
        record = _evaluator(store, [e.evaluator for e, p in zip(votes.rows, people, strict=True) if p == person])
        out.append(
            Leniency(
                person,
                record.name,
                rate(own, name="lets pass"),
                rate([yes for _, yes in rest], task=[str(n) for n, _ in rest], name="others on the same items"),
                record.standing,
            )
        )
    return out


def _evaluator(store: Store, versions: Sequence[str]) -> Evaluator:
    """Return the latest version under which the person judged."""
    return store.find(Evaluator, id=sorted(set(versions)))[-1]


@dataclass(frozen=True, slots=True)
class PositionBias:
    """The share of votes for the side shown first, among votes with a preference. `person` is None for all together."""

    person: str | None
    completion: Estimate
    quality: Estimate


def position_bias(store: Store, round: str) -> list[PositionBias]:
    """Return the bias of all people together, then per person. 50 % means none: the order is drawn and
    counterbalanced.
    """
    rows = [e for e in standing_evaluations(store, round) if isinstance(e.payload, Pairwise)]

    def of(person: str | None) -> PositionBias:
        said = [e.payload for e in rows if person is None or person_of(e.evaluator) == person]
        pairs = [p for p in said if isinstance(p, Pairwise)]
        sides = {"completion": [p.completion.value for p in pairs], "quality": [p.quality.value for p in pairs]}
        found = {name: _first_shown_share(values, f"AD-1 ({name})") for name, values in sides.items()}
        return PositionBias(person, found["completion"], found["quality"])

    return [of(None), *(of(p) for p in sorted({person_of(e.evaluator) for e in rows}))]


def _first_shown_share(values: Sequence[str], name: str) -> Estimate:
    """Estimate the share of votes for the side shown first, among votes with a preference."""
    from worksample.metrics import rate
    from worksample.metrics.estimate import undefined_estimate

    preferring = [value == "first" for value in values if value != "equal"]
    if values and not preferring:
        return undefined_estimate(name, f"all {len(values)} votes are ties")
    return rate(preferring, name=name)


@dataclass(frozen=True, slots=True)
class Throughput:
    """Work done by a person, in active minutes. `over`: evaluations above the soft limit."""

    person: str
    given: int
    declined: int
    minutes: float | None
    """Median minutes per evaluation; None if unknown."""
    over: int
    first: str
    last: str


def throughput(store: Store, round: str) -> list[Throughput]:
    """Return throughput per person, by id, over all submitted answers, struck or not."""
    with store.database.reading() as connection:
        limit = SPECS[find_queue(connection, round).form].minutes
    people: dict[str, list[Evaluation]] = {}
    for e in store.find(Evaluation, round=round):
        people.setdefault(person_of(e.evaluator), []).append(e)
    out = []
    for person, rows in sorted(people.items()):
        times = [e.minutes for e in rows if e.minutes is not None and e.outcome is EvaluationOutcome.GIVEN]
        out.append(
            Throughput(
                person,
                given=sum(e.outcome is EvaluationOutcome.GIVEN for e in rows),
                declined=sum(e.outcome is EvaluationOutcome.DECLINED for e in rows),
                minutes=median(times) if times else None,
                over=sum(t > limit for t in times),
                first=rows[0].at.isoformat(),
                last=rows[-1].at.isoformat(),
            )
        )
    return out


@dataclass(frozen=True, slots=True)
class WantedVotes:
    """Votes that a round still wants. `minutes`: per vote; `measured`: whether this is the median so far, else the
    form's soft limit. `pay`: US dollars for all of them at the median pay rate of those who judged, else of all
    evaluators; None if no rate is known.
    """

    votes: int
    out: int
    minutes: float
    measured: bool
    pay: float | None

    @property
    def hours(self) -> float:
        return self.votes * self.minutes / 60


def wanted_votes(store: Store, queue: Queue) -> WantedVotes:
    """Compute what a round still wants, without gold and withdrawn items."""
    now = progress(store, queue.round)
    said = [e for e in store.find(Evaluation, round=queue.round) if e.outcome is EvaluationOutcome.GIVEN]
    times = [e.minutes for e in said if e.minutes]
    minutes = median(times) if times else queue.spec.minutes
    votes = now.open + now.out
    rate = _pay_rate(store, {e.evaluator for e in said})
    pay = None if rate is None else votes * minutes / 60 * rate
    return WantedVotes(votes, now.out, minutes, bool(times), pay)


def _pay_rate(store: Store, judged: set[str]) -> float | None:
    """Return the median pay rate in US dollars per hour."""
    own = store.find(Evaluator, id=sorted(judged)) if judged else []
    for versions in (own, store.find(Evaluator, type="person")):
        rates = [rate for e in versions if (rate := profile_of(e).pay_rate) is not None]
        if rates:
            return median(rates)
    return None
