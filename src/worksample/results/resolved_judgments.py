"""All judging of some experiments, resolved: by protocol whose rounds decide, and the verdicts that join them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl
from sqlalchemy import select

from worksample.errors import POLICY
from worksample.records import AWAITED, AmendmentTarget, EvaluatorKind, JudgedBy, Protocol, Standing, struck
from worksample.store import Store, schema

from .asked import BY_PROGRAMS, AskedCriteria, asked_in
from .joining import answers_of, join
from .judging import JudgedRound, RoundReader
from .resolving import VERDICTS, shaped
from .rounds import Deciding, decide_rounds

_s = schema.submissions.c
_MANY = 400
_PROGRAM, _JUDGE, _PERSON = EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE, EvaluatorKind.PERSON
_PREFERRED = {True: (_PROGRAM, _PERSON, _JUDGE), False: (_PERSON, _PROGRAM, _JUDGE)}
"""Of work whose criteria name nobody, under the protocols of programs and under the others: who decides."""


@dataclass(frozen=True)
class ResolvedJudgments:
    """`deciding`: by protocol what decides, of each kind of evaluator that counts. `again`: second looks, which decide
    nothing by themselves. `whole`: by protocol who decides on work whose criteria name nobody. `joined`: by protocol
    the verdicts that join several kinds, and those on work that is still waited for.
    """

    deciding: dict[Protocol, tuple[JudgedRound, ...]] = field(default_factory=dict)
    again: list[JudgedRound] = field(default_factory=list)
    whole: dict[Protocol, EvaluatorKind] = field(default_factory=dict)
    joined: dict[Protocol, pl.DataFrame] = field(default_factory=dict)

    def verdicts(self, protocol: Protocol) -> pl.DataFrame:
        """A row per subject; none where nothing decides under the protocol."""
        whole = self.whole.get(protocol)
        own = [j.verdicts for j in self.deciding.get(protocol, ()) if j.round.by is whole]
        told = pl.concat([pl.DataFrame(schema=VERDICTS), *own]).unique("subject", keep="last", maintain_order=True)
        joined = self.joined.get(protocol)
        return told if joined is None else pl.concat([told.join(joined, on="subject", how="anti"), joined])


@dataclass(frozen=True, slots=True)
class Subjects:
    """`submissions`: of each experiment; `handed`: in by others."""

    submissions: Mapping[str, frozenset[str]]
    handed: frozenset[str] = frozenset()

    @property
    def every(self) -> frozenset[str]:
        return frozenset().union(*self.submissions.values()) | self.handed


def judge(
    judging: RoundReader, subjects: Subjects, protocols: Iterable[Protocol] = tuple(Protocol),
    by: JudgedBy = JudgedBy.COMBINED,
) -> ResolvedJudgments:  # fmt: skip
    """What decides for these experiments, by protocol.

    `by`: whose rounds decide. Combined, each criterion is answered by its own kind of evaluator; work whose criteria
    name nobody is decided by people where they have a round, else by a program, else by a judge. Rounds over chosen
    submissions under holistic votes that do not decide are second looks.
    """
    bench = ResolvedJudgments()
    for protocol in protocols:
        _judge(judging, subjects, protocol, by, bench)
    return bench


@dataclass(frozen=True, slots=True)
class Sources:
    """What decides under a protocol: the rounds of each kind of evaluator, who decides where criteria name nobody, and
    the gradings in force.
    """

    rounds: dict[EvaluatorKind, list[Deciding]]
    whole: EvaluatorKind | None
    gradings: dict[str, str]


def sources(judging: RoundReader, subjects: Subjects, protocol: Protocol, by: JudgedBy) -> Sources:
    """Of these experiments."""
    found = {kind: _deciding(judging, subjects, protocol, kind) for kind in EvaluatorKind}
    whole = by.kind or next((kind for kind in _PREFERRED[protocol in BY_PROGRAMS] if found[kind]), None)
    rounds = sorted((d.round for each in found.values() for d in each), key=judging.found.order)
    return Sources(found, whole, {instance: digest for r in rounds for instance, digest in r.gradings.items()})


def _judge(
    judging: RoundReader, subjects: Subjects, protocol: Protocol, by: JudgedBy, bench: ResolvedJudgments
) -> None:
    source = sources(judging, subjects, protocol, by)
    found, whole = source.rounds, source.whole
    asked = asked_in(judging.store, list(subjects.submissions), protocol, source.gradings)
    kinds = {whole} if by.kind else {whole, *(leaf.by for a in asked.values() for leaf in a.leaves)}
    answers, used = {}, set[str]()
    for kind in (k for k in EvaluatorKind if k in kinds):
        judged: tuple[JudgedRound, ...] = ()
        looks: tuple[JudgedRound, ...] = ()
        for each in found[kind]:
            more, again = judging.decided(each, leaves=bool(asked))
            judged, looks = (*judged, *more), (*looks, *again)
            used.update(each.rounds)
        if judged:
            bench.deciding[protocol] = (*bench.deciding.get(protocol, ()), *judged)
            bench.again.extend(looks)
        if asked:
            answers[kind] = answers_of(judged, looks, judging.rules)
    bench.whole[protocol] = whole or _PREFERRED[protocol in BY_PROGRAMS][0]
    if asked:
        told = {s for each in answers.values() for s in each}
        wanted = frozenset().union(*subjects.submissions.values()) | told
        places = places_of(judging.store, wanted & subjects.every, asked)
        bench.joined[protocol] = join(protocol, asked, places, answers, by.kind, whole, judging.rules)
    _wait(judging, subjects, protocol, bench)
    if protocol is Protocol.HOLISTIC:
        every = frozenset().union(*subjects.submissions.values())
        spare = [r for r in judging.found.deciding(protocol) if r.experiment is None and r.id not in used]
        bench.again.extend(judging.read(r, [r.id]) for r in spare if every.intersection(r.subjects))


def _deciding(judging: RoundReader, subjects: Subjects, protocol: Protocol, kind: EvaluatorKind) -> list[Deciding]:
    found = (
        decide_rounds(judging.found, e, protocol, submissions, subjects.handed, kind)
        for e, submissions in subjects.submissions.items()
    )
    return list({(d.round.id, tuple(d.parts)): d for d in found if d is not None}.values())


def places_of(store: Store, submissions: Collection[str], asked: Mapping[str, AskedCriteria]) -> dict[str, str]:
    """Submission -> instance, of those that `asked` has."""
    ids = sorted(submissions)
    out: dict[str, str] = {}
    with store.database.reading() as connection:
        for start in range(0, len(ids), _MANY):
            query = select(_s.id, _s.instance).where(_s.id.in_(ids[start : start + _MANY]))
            out |= {id: instance for id, instance in connection.execute(query) if instance in asked}
    return out


def _wait(judging: RoundReader, subjects: Subjects, protocol: Protocol, bench: ResolvedJudgments) -> None:
    """Add the submissions that nobody has said anything of and that people or a judge are to decide."""
    cause = AWAITED.get(bench.whole[protocol])
    if cause is None or not (protocol in bench.deciding or protocol is Protocol.HOLISTIC):
        return
    gone = {id for target, id in struck(judging.amendments) if target is AmendmentTarget.SUBMISSION}
    told = set(bench.verdicts(protocol)["subject"].to_list())
    left = sorted(frozenset().union(*subjects.submissions.values()) - told - gone)
    fixed = {"standing": Standing.UNGRADED, "verdict_cause": cause, "reason": POLICY[cause].says, "by": "votes"}
    subject = pl.DataFrame({"subject": left}, schema={"subject": pl.String()})
    waiting = shaped(subject.with_columns(pl.lit(str(value)).alias(name) for name, value in fixed.items()))
    joined = bench.joined.get(protocol)
    bench.joined[protocol] = waiting if joined is None else pl.concat([joined, waiting])
