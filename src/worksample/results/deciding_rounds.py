"""Which rounds decide what an experiment's submissions come to."""

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
"""Purposes of rounds that may decide; the others look at what those say, or at the evaluators."""
LOOKS = frozenset({Purpose.AUDIT, Purpose.ADJUDICATION, Purpose.FALSE_NEGATIVES, Purpose.RELIABILITY})
"""Purposes of rounds that judge the work of another round once more, which they are `over`."""
_NOTED = {"id", "reason", "author", "at", "over"}


def need_amendable(action: AmendmentAction, record: Record) -> None:
    """UsageError where the record cannot be put in force, and that is asked for."""
    if action is AmendmentAction.ADOPT and not (isinstance(record, Round) and record.purpose in DECIDING):
        what = (
            f"a round of purpose {record.purpose}" if isinstance(record, Round) else f"a record of kind {record.kind}"
        )
        raise UsageError(f"{what} cannot be put in force", where=record.id, next="worksample list")


class InForce:
    """Rounds, and since when each is in force by their amendments.

    A round of grading is in force from its moment on, a regrade once it is adopted. Adopting a round puts it in force
    (anew) at that moment; a struck one is in force no more until it is restored or adopted.
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
        """None where it is not in force."""
        if round.id in self._struck or round.purpose not in DECIDING:
            return None
        own = round.at if round.purpose is Purpose.GRADING else None
        return self._adopted.get(round.id, own)

    def adopted(self, round: Round) -> bool:
        """Whether a regrade was put in force, or a round of grading put in force anew."""
        return round.id in self._adopted

    def struck(self, round: Round) -> bool:
        return round.id in self._struck

    def order(self, round: Round) -> tuple[datetime, datetime, str]:
        """Of two rounds in force the later one decides."""
        return (self.since(round) or round.at, round.at, round.id)

    def deciding(self, protocol: Protocol, by: EvaluatorKind | None = None) -> list[Round]:
        """The rounds in force under a protocol, the latest last: of one kind of evaluator, or of all."""
        found = [r for r in self.rounds if r.protocol is protocol and by in (None, r.by)]
        return sorted((r for r in found if self.since(r) is not None), key=self.order)

    def looks(self, of: Sequence[str], like: Round) -> list[Round]:
        """The rounds that look again at one of these, which are like this one, by time.

        People may look at what anybody said, programs and judges at their own kind's: no judge overrules people.
        """
        found = [r for r in self.rounds if r.over in of and r.purpose in LOOKS and r.protocol is like.protocol]
        return [r for r in found if r.by in (like.by, EvaluatorKind.PERSON) and not self.struck(r)]


@dataclass(frozen=True)
class Deciding:
    """`round` decides, together with the rounds `alike`, itself among them; over the subjects of `parts` a later round
    does, each subject's own.
    """

    round: Round
    alike: tuple[str, ...]
    parts: Mapping[str, Round]

    @property
    def rounds(self) -> tuple[str, ...]:
        """The ids of all."""
        return tuple(dict.fromkeys((*self.alike, *(r.id for r in self.parts.values()))))


def alike(round: Round, among: Iterable[Round]) -> tuple[str, ...]:
    """The ids of the rounds that differ in id, reason, author, moment and predecessor only, itself among them.

    Two machines that graded parts of one experiment each opened one, with the same graders under the same rules.
    """
    like = round.model_dump(exclude=_NOTED)
    return tuple(r.id for r in among if r.model_dump(exclude=_NOTED) == like)


def decide_rounds(
    found: InForce, experiment: str, protocol: Protocol, submissions: frozenset[str], handed: frozenset[str],
    by: EvaluatorKind | None = None,
) -> Deciding | None:  # fmt: skip
    """What decides for an experiment under a protocol, of rounds by one kind of evaluator or by all; None where
    nothing does.

    The latest round in force over the experiment as a whole. Where there is none, of the rounds over chosen submissions
    the one with most of the experiment's, then the latest. Over what it lists, a regrade of chosen submissions decides
    that came into force after that; work that was `handed` in has rounds of its own.
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
    same = alike(base, whole) if whole else (base.id,)
    parts: dict[str, Round] = {}
    for r in chosen:
        late = r.purpose is Purpose.REGRADE and found.order(r) > found.order(base)
        own = handed.issuperset(r.subjects)
        if r.id != base.id and (late or own):
            kept = submissions | handed if late else handed
            parts |= {s: r for s in r.subjects if s in kept}
    return Deciding(base, same, parts)
