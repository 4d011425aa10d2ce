"""The rounds that decide the verdicts on an experiment's submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from worksample.errors import UsageError
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    EvaluatorKind,
    Protocol,
    Purpose,
    Record,
    Round,
)

DECIDING = frozenset({Purpose.GRADING, Purpose.REGRADE})
"""Purposes of rounds that may decide verdicts. Rounds with other purposes check these verdicts or the evaluators."""
LOOKS = frozenset({Purpose.AUDIT, Purpose.ADJUDICATION, Purpose.FALSE_NEGATIVES, Purpose.RELIABILITY})
"""Purposes of second looks: rounds that judge the work of another round again. The field `over` of such a round names
the other round.
"""
_NOTED = {"id", "reason", "author", "at", "over"}


def need_amendable(action: AmendmentAction, record: Record) -> None:
    """Raise UsageError if the amendment adopts a record that cannot decide verdicts, such as a round of audits."""
    if action is AmendmentAction.ADOPT and not (isinstance(record, Round) and record.purpose in DECIDING):
        what = (
            f"a round of purpose {record.purpose}" if isinstance(record, Round) else f"a record of kind {record.kind}"
        )
        raise UsageError(
            f"{what} cannot decide verdicts, so it cannot be adopted", where=record.id, next="worksample list"
        )


class RoundsInForce:
    """The rounds of a store, with the time from which each round is in force.

    A round with the purpose `grading` is in force from its start, a regrade after it was adopted. Adopting a round
    again gives it the time of that adoption. A withdrawn (struck) round is not in force until it is restored or
    adopted.
    """

    def __init__(self, rounds: Iterable[Round], amendments: Iterable[Amendment]) -> None:
        self.rounds = sorted(rounds, key=lambda r: (r.at, r.id))
        self._struck: set[str] = set()
        self._adopted: dict[str, datetime] = {}
        for a in sorted(amendments, key=lambda a: (a.at, a.id)):
            if a.target is not AmendmentTarget.ROUND:
                continue
            if a.action is AmendmentAction.STRIKE:
                self._struck.add(a.target_id)
                continue
            self._struck.discard(a.target_id)
            if a.action is AmendmentAction.ADOPT:
                self._adopted[a.target_id] = a.at

    def since(self, round: Round) -> datetime | None:
        """Return the time from which a round is in force; None if the round is not in force."""
        if round.id in self._struck or round.purpose not in DECIDING:
            return None
        own = round.at if round.purpose is Purpose.GRADING else None
        return self._adopted.get(round.id, own)

    def is_adopted(self, round: Round) -> bool:
        """Return whether an amendment has adopted the round."""
        return round.id in self._adopted

    def struck(self, round: Round) -> bool:
        return round.id in self._struck

    def order(self, round: Round) -> tuple[datetime, datetime, str]:
        """Return the sort key of a round in force. The round with the largest key decides."""
        return (self.since(round) or round.at, round.at, round.id)

    def deciding(self, protocol: Protocol, by: EvaluatorKind | None = None) -> list[Round]:
        """Return the rounds in force under a protocol; the round that decides is the last one.

        by: only rounds of this kind of evaluator; None for all kinds.
        """
        found = [r for r in self.rounds if r.protocol is protocol and by in (None, r.by)]
        return sorted((r for r in found if self.since(r) is not None), key=self.order)

    def second_looks(self, of: Sequence[str], like: Round) -> list[Round]:
        """Return the second looks at any of the rounds in `of`, oldest first.

        People may check all verdicts. Programs and judges may only check verdicts of their own kind, so that no judge
        overrules people. like: one of the rounds in `of`.
        """
        found = [r for r in self.rounds if r.over in of and r.purpose in LOOKS and r.protocol is like.protocol]
        return [r for r in found if r.by in (like.by, EvaluatorKind.PERSON) and not self.struck(r)]


@dataclass(frozen=True)
class DecidingRound:
    """The round that decides, with the rounds that are read together with it (`alike`, which includes the round
    itself). For each subject in `parts`, another round decides.
    """

    round: Round
    alike: tuple[str, ...]
    parts: Mapping[str, Round]

    @property
    def rounds(self) -> tuple[str, ...]:
        """Ids of all rounds that decide about at least one subject."""
        return tuple(dict.fromkeys((*self.alike, *(r.id for r in self.parts.values()))))


def alike_rounds(round: Round, among: Iterable[Round]) -> tuple[str, ...]:
    """Return the ids of the rounds that grade in the same way as `round`, including its own id. Such rounds differ only
    in id, reason, author, time and predecessor.

    Two machines that each graded a part of an experiment have each opened such a round.
    """
    like = round.model_dump(exclude=_NOTED)
    return tuple(r.id for r in among if r.model_dump(exclude=_NOTED) == like)


def decide_rounds(
    found: RoundsInForce, experiment: str, protocol: Protocol, submissions: frozenset[str], handed: frozenset[str],
    by: EvaluatorKind | None = None,
) -> DecidingRound | None:  # fmt: skip
    """Return the rounds that decide for an experiment under a protocol; None if no round decides.

    The latest round in force over the whole experiment decides. If there is none, the round over chosen submissions
    that has the most submissions of the experiment decides; of equal ones, the latest. A regrade of chosen submissions
    decides about these submissions if it came into force later. Submissions in `handed` may have separate rounds.

    by: only rounds of this kind of evaluator; None for all kinds.
    """
    rounds = found.deciding(protocol, by)
    whole = [r for r in rounds if r.experiment == experiment]
    chosen = [r for r in rounds if r.experiment is None]
    mine = {r.id: len(submissions.intersection(r.subjects)) for r in chosen}
    base = whole[-1] if whole else None
    if base is None:
        over = [r for r in chosen if mine[r.id]]
        base = max(over, key=lambda r: (mine[r.id], found.order(r)), default=None)
    if base is None:
        return None
    same = alike_rounds(base, whole) if whole else (base.id,)
    parts: dict[str, Round] = {}
    for r in chosen:
        late = r.purpose is Purpose.REGRADE and found.order(r) > found.order(base)
        own = handed.issuperset(r.subjects)
        if r.id != base.id and (late or own):
            kept = submissions | handed if late else handed
            parts |= {s: r for s in r.subjects if s in kept}
    return DecidingRound(base, same, parts)
