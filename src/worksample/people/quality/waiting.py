"""What rounds by people still want, in votes, hours and pay."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from worksample.people.access.profile import profile_of
from worksample.people.rounds.queues import Queue
from worksample.records import Evaluation, EvaluationOutcome, Evaluator

from .dashboard import progress

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class Wanted:
    """`minutes`: of one vote; `measured`: the median of those given, else the form's soft limit. `pay`: US dollars for
    all of them at the median pay rate of who judged so far, else of all who judge; None where nobody's is known.
    """

    votes: int
    out: int
    minutes: float
    measured: bool
    pay: float | None

    @property
    def hours(self) -> float:
        return self.votes * self.minutes / 60


def wanted_of(store: Store, queue: Queue) -> Wanted:
    """What a round still wants; gold items and what is withdrawn are not counted."""
    now = progress(store, queue.round)
    said = [e for e in store.find(Evaluation, round=queue.round) if e.outcome is EvaluationOutcome.GIVEN]
    times = [e.minutes for e in said if e.minutes]
    minutes = median(times) if times else queue.spec.minutes
    votes = now.open + now.out
    rate = _pay_rate(store, {e.evaluator for e in said})
    pay = None if rate is None else votes * minutes / 60 * rate
    return Wanted(votes, now.out, minutes, bool(times), pay)


def _pay_rate(store: Store, judged: set[str]) -> float | None:
    """US dollars an hour, the median."""
    own = store.find(Evaluator, id=sorted(judged)) if judged else []
    for versions in (own, store.find(Evaluator, type="person")):
        rates = [rate for e in versions if (rate := profile_of(e).pay_rate) is not None]
        if rates:
            return median(rates)
    return None
