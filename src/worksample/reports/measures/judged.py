"""Which rounds count, and what they resolve to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from worksample.records import (
    Amendment,
    Evaluation,
    Experiment,
    Given,
    Grade,
    GradePart,
    Protocol,
    Round,
    Skip,
    Standing,
    Target,
    Verdict,
    resolve,
    struck,
)
from worksample.store import Store

_NAMES = {"id", "reason", "author", "at"}
ASIDE = frozenset({"tags", "integrity", "pilot", "calibration"})
"""Kinds of rounds by people that judge no work."""
LOOKS = frozenset({"audit", "false_negatives", "reliability", "adjudication"})
"""Kinds that look again at the work of another round, which they name."""


@dataclass(frozen=True)
class Judged:
    """A round, its verdicts by submission, and the evaluations that stand and were given.

    `alike`: the ids of all rounds that were taken together. `reviewed`: subjects whose verdict an audit or an
    adjudication decided, against the votes or in their place.
    """

    round: Round
    verdicts: dict[str, Verdict]
    given: tuple[Evaluation, ...]
    alike: tuple[str, ...] = ()
    reviewed: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """What a round by people is for; "" where that is not said."""
        return self.round.versions.get("people.kind", "")


@dataclass(frozen=True)
class Bench:
    """All judging of some experiments: by protocol what counts, and the second looks at some of it."""

    counting: dict[Protocol, tuple[Judged, ...]] = field(default_factory=dict)
    again: tuple[Judged, ...] = ()


def judge(
    store: Store, experiments: Sequence[Experiment], submissions: frozenset[str], amendments: Sequence[Amendment]
) -> Bench:
    """Of each protocol the rounds that count for these experiments, resolved.

    An experiment's latest round under a protocol counts, together with rounds that differ from it in name, reason,
    author and moment only. Where no round is over the experiment as a whole, of the rounds over chosen submissions the
    one with the most subjects counts, then the latest; the others are second looks. Of the looks that name the round
    that they look at, an adjudication decides, and else an audit turns what had passed into what did not (RLI B.5).
    """
    rounds = sorted(store.find(Round), key=lambda r: (r.at, r.id))
    ids = {e.id for e in experiments}
    counting: dict[Protocol, tuple[Judged, ...]] = {}
    again: list[Judged] = []
    for protocol in Protocol:
        mine = [r for r in rounds if r.protocol is protocol and r.versions.get("people.kind") not in ASIDE]
        plain = [r for r in mine if r.versions.get("people.kind") not in LOOKS]
        whole = [r for r in plain if r.experiment in ids]
        chosen = [r for r in plain if r.experiment is None and submissions.intersection(r.subjects)]
        latest = list({r.experiment: r for r in whole}.values())
        if not latest and chosen:
            latest = [max(chosen, key=lambda r: (len(r.subjects), r.at, r.id))]
        used = {r.id for r in latest}
        said = [_judged(store, r, whole if r.experiment else [r], amendments) for r in latest]
        looks = [r for r in mine if r not in plain and any(r.versions.get("people.over") in j.alike for j in said)]
        found = [_judged(store, r, [r], amendments) for r in looks]
        if said:
            counting[protocol] = tuple(_after(j, found) for j in said)
        again += found
        if protocol is Protocol.HOLISTIC:
            again += [_judged(store, r, [r], amendments) for r in chosen if r.id not in used]
    return Bench(counting, tuple(again))


def _after(judged: Judged, looks: Sequence[Judged]) -> Judged:
    """The round as it stands after those looks at it; the latest look of a kind that decided a subject counts."""
    mine = [j for j in looks if j.round.versions.get("people.over") in judged.alike]
    changed: dict[str, Verdict] = {}
    for kind in ("audit", "adjudication"):
        for look in (j for j in mine if j.kind == kind):
            for subject, verdict in look.verdicts.items():
                own = judged.verdicts.get(subject)
                if own is None or verdict.standing is not Standing.DECIDED:
                    continue
                if kind == "adjudication" or (own.passed and verdict.passed is False):
                    changed[subject] = verdict
    return replace(judged, verdicts=judged.verdicts | changed, reviewed=frozenset(changed))


def _judged(store: Store, round: Round, among: Iterable[Round], amendments: Sequence[Amendment]) -> Judged:
    like = round.model_dump(exclude=_NAMES)
    alike = [r.id for r in among if r.model_dump(exclude=_NAMES) == like]
    said = [
        e if e.round == round.id else e.replaced(round=round.id)
        for id in alike
        for e in store.find(Evaluation, round=id)
    ]
    out = struck(amendments)
    given = tuple(e for e in said if e.outcome is Given.GIVEN and not _gone(e, out))
    return Judged(round, resolve(round, said, amendments), given, tuple(alike))


def _gone(e: Evaluation, out: frozenset[tuple[Target, str]]) -> bool:
    keys = [
        (Target.EVALUATION, e.id),
        (Target.EVALUATOR, e.evaluator),
        (Target.SUBMISSION, e.subject),
        (Target.INSTANCE, e.instance),
    ]
    if e.second is not None:
        keys.append((Target.SUBMISSION, e.second))
    return any(key in out for key in keys)


def without_reviews(amendments: Iterable[Amendment]) -> list[Amendment]:
    """The amendments without those on trials and submissions: everything handed in counts, invalid votes do not."""
    return [a for a in amendments if a.target not in (Target.TRIAL, Target.SUBMISSION)]


def leaves(parts: Iterable[GradePart]) -> Iterable[GradePart]:
    """The criteria of a grade, without the branches over them."""
    for part in parts:
        yield from leaves(part.parts) if part.parts else (part,)


def as_misses(judged: Judged, amendments: Sequence[Amendment]) -> Judged:
    """The round as UpBench's formula reads it: what was skipped, for whatever cause, was missed (5.2.1)."""
    given = tuple(e.replaced(payload=_missed(e.payload)) if isinstance(e.payload, Grade) else e for e in judged.given)
    told = resolve(judged.round, given, amendments)
    own = {subject: verdict for subject, verdict in told.items() if subject not in judged.reviewed}
    return replace(judged, verdicts=judged.verdicts | own, given=given)


def _missed(grade: Grade) -> Grade:
    def miss(part: GradePart) -> GradePart:
        inner = tuple(miss(p) for p in part.parts)
        if part.skip in (Skip.NOT_APPLICABLE, Skip.CANNOT_JUDGE):
            return part.replaced(parts=inner, fraction=0.0, skip=None)
        return part.replaced(parts=inner)

    return grade.replaced(parts=tuple(miss(p) for p in grade.parts))


def why(verdict: Verdict, length: int = 300) -> str:
    """The reasons that a verdict gives: of the parts without all their points, else the grade's own."""
    if verdict.grade is None:
        return verdict.reason[:length]
    missed = [p for p in leaves(verdict.grade.parts) if not p.passed]
    said = "; ".join(f"{p.name}: {p.reason or _points(p)}" for p in missed) or verdict.grade.reason
    return said if len(said) <= length else f"{said[: length - 1]}…"


def _points(part: GradePart) -> str:
    if part.fraction is None:
        return str(part.skip).replace("_", " ") if part.skip else "skipped"
    return f"{part.fraction * part.points:g} of {part.points:g}"
