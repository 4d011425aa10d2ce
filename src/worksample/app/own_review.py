"""One person's own review: an account with every role, and a round over an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.experiments.find import find_experiment
from worksample.people import Account, Kind, PeopleRound, Role
from worksample.records import Experiment, Rule

if TYPE_CHECKING:
    from worksample.people import People, Queue

_OF_DELIVERABLES = (Kind.HOLISTIC, Kind.RUBRIC, Kind.TAGS)
REASON = "one person's own review"


@dataclass(frozen=True, slots=True)
class Review:
    """What is ready to be judged. `left`: items that this person can still be given."""

    account: Account
    experiment: Experiment
    round: str
    left: int


def open_review(people: People, name: str, experiment: str | None = None) -> Review:
    """Make the account and, where the experiment has no open round, a round of one vote each without training gate.

    `experiment`: name or id, by default the newest. UsageError where there is none; PlanError where it has no work.
    """
    account = people.accounts.create(name, [role.value for role in Role])
    if account.disabled or account.roles != frozenset(Role):
        account = people.accounts.change(account.id, None, roles=[role.value for role in Role], disabled=False)
    chosen = find_experiment(people.store, experiment or "")
    found = [q for q in people.rounds() if _covers(q, chosen.id)]
    # A round of deliverables rather than one of pairs that was opened since.
    found.sort(key=lambda q: q.kind in _OF_DELIVERABLES)
    if found:
        round = found[-1].round
        if found[-1].kind in _OF_DELIVERABLES:
            people.top_up(round)
    else:
        round = people.open_people_round(
            PeopleRound(
                kind=Kind.HOLISTIC, experiment=chosen.id, rule=Rule.LATEST, overlap=1, training=False,
                waive_pilot=REASON, reason=REASON,
            )
        ).id  # fmt: skip
    return Review(account, chosen, round, left_of(people, account, round))


def left_of(people: People, account: Account, round: str) -> int:
    """Items of a round that the person can still be given, open ones too."""
    return sum(s.left + s.open for s in people.standings(account) if s.queue.round == round)


def _covers(queue: Queue, experiment: str) -> bool:
    return queue.state == "open" and queue.settings["experiment"] == experiment
