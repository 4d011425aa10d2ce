"""The judgments on the submissions of experiments, by protocol: the rounds that decide, and their verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl
from sqlalchemy import select

from worksample.errors import POLICY
from worksample.records import AWAITED, AmendmentTarget, EvaluatorKind, JudgedBy, Protocol, Standing, struck
from worksample.store import Store, schema

from .criteria_in_force import BY_PROGRAMS, InstanceCriteria, joint_criteria
from .deciding_rounds import DecidingRound, decide_rounds
from .joined_verdicts import answers_of, join_verdicts
from .judged_rounds import JudgedRound, RoundReader
from .verdicts import VERDICTS, with_verdict_columns

_s = schema.submissions.c
_MANY = 400
_PROGRAM, _JUDGE, _PERSON = EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE, EvaluatorKind.PERSON
_PREFERRED = {True: (_PROGRAM, _PERSON, _JUDGE), False: (_PERSON, _PROGRAM, _JUDGE)}
"""Order in which kinds of evaluators decide about work whose criteria name no kind. The key is true for the protocols
of programs.
"""


@dataclass(frozen=True, slots=True)
class Subjects:
    """The submissions to judge: `submissions` by experiment, and `handed` for those handed in from outside."""

    submissions: Mapping[str, frozenset[str]]
    handed: frozenset[str] = frozenset()

    @property
    def all_submissions(self) -> frozenset[str]:
        """Ids of all submissions, of experiments and from outside."""
        return frozenset().union(*self.submissions.values()) | self.handed


@dataclass(frozen=True, slots=True)
class Sources:
    """The rounds that decide under a protocol by kind of evaluator, and the gradings in force by instance.

    `default_kind` is the kind of evaluator that decides about work whose criteria name no kind. It is None if no round
    decides.
    """

    rounds: dict[EvaluatorKind, list[DecidingRound]]
    default_kind: EvaluatorKind | None
    gradings: dict[str, str]


@dataclass(frozen=True)
class ProtocolJudgments:
    """The judgments under one protocol: rounds, second looks and verdicts."""

    deciding: tuple[JudgedRound, ...]
    """Rounds that decide, for each kind of evaluator whose answers are used."""
    second_looks: tuple[JudgedRound, ...]
    """Audits, adjudications and other rounds that judged the same work again. They decide nothing alone."""
    default_kind: EvaluatorKind
    """Kind of evaluator that decides about work whose criteria name no kind."""
    joined: pl.DataFrame | None
    """Verdicts that combine several kinds of evaluators, and verdicts on work that waits for an evaluator. None if
    there are no such verdicts.
    """

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """The verdicts, with a row for each submission. The frame is empty if no round decides."""
        return _verdicts(self.deciding, self.default_kind, self.joined)


class Judgments:
    """The judgments on the submissions of experiments, computed once for each protocol.

    `by` says which evaluators decide. With `combined`, each criterion is answered by the kind of evaluator that it
    names. Work whose criteria name no kind is decided by people if they have a round, otherwise by a program, otherwise
    by a judge; under the protocols of programs, a program comes first. Holistic rounds over chosen submissions that do
    not decide count as second looks.
    """

    def __init__(self, reader: RoundReader, subjects: Subjects, by: JudgedBy = JudgedBy.COMBINED) -> None:
        self.reader, self.subjects, self.by = reader, subjects, by
        self._resolved: dict[Protocol, ProtocolJudgments] = {}

    def under(self, protocol: Protocol) -> ProtocolJudgments:
        """Return all judgments under `protocol`."""
        if protocol not in self._resolved:
            self._resolved[protocol] = self._resolve(protocol)
        return self._resolved[protocol]

    def verdicts(self, protocol: Protocol) -> pl.DataFrame:
        """Return the verdicts under `protocol`, with a row for each submission and the columns of
        `verdicts.VERDICTS`.
        """
        return self.under(protocol).verdicts

    @cached_property
    def deciding(self) -> dict[Protocol, tuple[JudgedRound, ...]]:
        """The rounds that decide, by protocol. Protocols without such rounds are left out."""
        return {protocol: rounds for protocol in Protocol if (rounds := self.under(protocol).deciding)}

    @cached_property
    def second_looks(self) -> tuple[JudgedRound, ...]:
        """The second looks (such as audits) under all protocols."""
        return tuple(look for protocol in Protocol for look in self.under(protocol).second_looks)

    def sources(self, protocol: Protocol) -> Sources:
        """Return the rounds and the gradings that decide under `protocol`."""
        found = {kind: self._deciding(protocol, kind) for kind in EvaluatorKind}
        preferred = _PREFERRED[protocol in BY_PROGRAMS]
        kind = self.by.kind or next((kind for kind in preferred if found[kind]), None)
        rounds = sorted((d.round for each in found.values() for d in each), key=self.reader.found.order)
        return Sources(found, kind, {instance: digest for r in rounds for instance, digest in r.gradings.items()})

    def _deciding(self, protocol: Protocol, kind: EvaluatorKind) -> list[DecidingRound]:
        found = (
            decide_rounds(self.reader.found, experiment, protocol, submissions, self.subjects.handed, kind)
            for experiment, submissions in self.subjects.submissions.items()
        )
        return list({(d.round.id, tuple(d.parts)): d for d in found if d is not None}.values())

    def _resolve(self, protocol: Protocol) -> ProtocolJudgments:
        source = self.sources(protocol)
        reader, by, default = self.reader, self.by, source.default_kind
        asked = joint_criteria(reader.store, list(self.subjects.submissions), protocol, source.gradings)
        kinds = {default} if by.kind else {default, *(leaf.by for a in asked.values() for leaf in a.leaves)}
        deciding: list[JudgedRound] = []
        second_looks: list[JudgedRound] = []
        answers, used = {}, set[str]()
        for kind in (k for k in EvaluatorKind if k in kinds):
            judged: tuple[JudgedRound, ...] = ()
            looks: tuple[JudgedRound, ...] = ()
            for each in source.rounds[kind]:
                more, again = reader.read_deciding(each, leaves=bool(asked))
                judged, looks = (*judged, *more), (*looks, *again)
                used.update(each.rounds)
            if judged:
                deciding += judged
                second_looks += looks
            if asked:
                answers[kind] = answers_of(judged, looks, reader.rules)
        whole = default or _PREFERRED[protocol in BY_PROGRAMS][0]
        joined = None
        if asked:
            answered = {subject for each in answers.values() for subject in each}
            wanted = frozenset().union(*self.subjects.submissions.values()) | answered
            instances = instances_of(reader.store, wanted & self.subjects.all_submissions, asked)
            joined = join_verdicts(protocol, asked, instances, answers, by.kind, default, reader.rules)
        joined = self._with_waiting(protocol, tuple(deciding), whole, joined)
        if protocol is Protocol.HOLISTIC:
            second_looks += self._rounds_that_do_not_decide(protocol, used)
        return ProtocolJudgments(tuple(deciding), tuple(second_looks), whole, joined)

    def _rounds_that_do_not_decide(self, protocol: Protocol, used: Collection[str]) -> list[JudgedRound]:
        """Return the rounds in force over chosen submissions of these experiments that are not in `used`, so that they
        do not decide.
        """
        ours = frozenset().union(*self.subjects.submissions.values())
        spare = [r for r in self.reader.found.deciding(protocol) if r.experiment is None and r.id not in used]
        return [self.reader.read_round(r, [r.id]) for r in spare if ours.intersection(r.subjects)]

    def _with_waiting(
        self,
        protocol: Protocol,
        deciding: tuple[JudgedRound, ...],
        kind: EvaluatorKind,
        joined: pl.DataFrame | None,
    ) -> pl.DataFrame | None:
        """Return `joined`, extended by the submissions that people or a judge must decide and have not judged yet."""
        cause = AWAITED.get(kind)
        if cause is None or not (deciding or protocol is Protocol.HOLISTIC):
            return joined
        gone = {id for target, id in struck(self.reader.amendments) if target is AmendmentTarget.SUBMISSION}
        judged = set(_verdicts(deciding, kind, joined)["subject"].to_list())
        left = sorted(frozenset().union(*self.subjects.submissions.values()) - judged - gone)
        fixed = {
            "standing": Standing.UNGRADED,
            "verdict_cause": cause,
            "reason": POLICY[cause].description,
            "by": "votes",
        }
        subject = pl.DataFrame({"subject": left}, schema={"subject": pl.String()})
        waiting = with_verdict_columns(
            subject.with_columns(pl.lit(str(value)).alias(name) for name, value in fixed.items())
        )
        return waiting if joined is None else pl.concat([joined, waiting])


def _verdicts(deciding: tuple[JudgedRound, ...], kind: EvaluatorKind, joined: pl.DataFrame | None) -> pl.DataFrame:
    own = [judged.verdicts for judged in deciding if judged.round.by is kind]
    verdicts = pl.concat([pl.DataFrame(schema=VERDICTS), *own]).unique("subject", keep="last", maintain_order=True)
    return verdicts if joined is None else pl.concat([verdicts.join(joined, on="subject", how="anti"), joined])


def instances_of(store: Store, submissions: Collection[str], asked: Mapping[str, InstanceCriteria]) -> dict[str, str]:
    """Return the instance of each submission, for submissions whose instance is in `asked`."""
    ids = sorted(submissions)
    out: dict[str, str] = {}
    with store.database.reading() as connection:
        for start in range(0, len(ids), _MANY):
            query = select(_s.id, _s.instance).where(_s.id.in_(ids[start : start + _MANY]))
            out |= {id: instance for id, instance in connection.execute(query) if instance in asked}
    return out
