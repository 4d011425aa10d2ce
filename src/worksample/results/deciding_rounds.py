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
"""Purposes of rounds that may decide; rounds of other purposes check those verdicts, or the evaluators."""
LOOKS = frozenset({Purpose.AUDIT, Purpose.ADJUDICATION, Purpose.FALSE_NEGATIVES, Purpose.RELIABILITY})
"""Purposes of rounds that judge the work of another round again; `over` names that round."""
_NOTED = {"id", "reason", "author", "at", "over"}


def need_amendable(action: AmendmentAction, record: Record) -> None:
    """Raise UsageError if the amendment would put into force a record that cannot be in force."""
    if action is AmendmentAction.ADOPT and not (isinstance(record, Round) and record.purpose in DECIDING):
        what = (
            f"a round of purpose {record.purpose}" if isinstance(record, Round) else f"a record of kind {record.kind}"
        )
        raise UsageError(
            f"{what} cannot decide verdicts, so it cannot be adopted", where=record.id, next="worksample list"
        )


class RoundsInForce:
    """The rounds of a store, and the time from which each is in force by its amendments.

    A round of grading is in force from its start, a regrade once it is adopted. Adopting a round puts it in force
    (again) at that time; a struck round is out of force until it is restored or adopted.
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
        """Return the time from which a round is in force; None if it is not."""
        if round.id in self._struck or round.purpose not in DECIDING:
            return None
        own = round.at if round.purpose is Purpose.GRADING else None
        return self._adopted.get(round.id, own)

    def is_adopted(self, round: Round) -> bool:
        """Return whether a regrade was put in force, or a round of grading put in force again."""
        return round.id in self._adopted

    def struck(self, round: Round) -> bool:
        return round.id in self._struck

    def order(self, round: Round) -> tuple[datetime, datetime, str]:
        """Return the sort key of rounds in force: the later round decides."""
        return (self.since(round) or round.at, round.at, round.id)

    def deciding(self, protocol: Protocol, by: EvaluatorKind | None = None) -> list[Round]:
        """Return the rounds in force under a protocol, the latest last, of one kind of evaluator or of all."""
        found = [r for r in self.rounds if r.protocol is protocol and by in (None, r.by)]
        return sorted((r for r in found if self.since(r) is not None), key=self.order)

    def second_looks(self, of: Sequence[str], like: Round) -> list[Round]:
        """Return the second looks at any of the rounds `of`, by time.

        People may check any verdicts, programs and judges only those of their own kind: no judge overrules people.
        """
        found = [r for r in self.rounds if r.over in of and r.purpose in LOOKS and r.protocol is like.protocol]
        return [r for r in found if r.by in (like.by, EvaluatorKind.PERSON) and not self.struck(r)]


@dataclass(frozen=True)
class DecidingRound:
    """The round that decides, and the rounds `alike`, which include it. On each subject in `parts`, a later round
    decides.
    """

    round: Round
    alike: tuple[str, ...]
    parts: Mapping[str, Round]

    @property
    def rounds(self) -> tuple[str, ...]:
        """The ids of all these rounds."""
        return tuple(dict.fromkeys((*self.alike, *(r.id for r in self.parts.values()))))


def alike_rounds(round: Round, among: Iterable[Round]) -> tuple[str, ...]:
    """Return the ids of the rounds that differ from this one only in id, reason, author, time and predecessor,
    including its own.

    Two machines that graded parts of one experiment each opened a round, with the same graders under the same rules.
    """
    like = round.model_dump(exclude=_NOTED)
    return tuple(r.id for r in among if r.model_dump(exclude=_NOTED) == like)


def decide_rounds(
    found: RoundsInForce, experiment: str, protocol: Protocol, submissions: frozenset[str], handed: frozenset[str],
    by: EvaluatorKind | None = None,
) -> DecidingRound | None:  # fmt: skip
    """Return the rounds that decide for an experiment under a protocol, of one kind of evaluator or of all; None if
    none does.

    The latest round in force over the whole experiment decides. If there is none: of the rounds over chosen
    submissions, the one with most of the experiment's, then the latest. A regrade of chosen submissions that came into
    force later decides on the subjects it lists; submissions in `handed` have separate rounds.
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
