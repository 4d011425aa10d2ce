"""One person's own review: an account with every role, and a round over an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.experiments.experiment_lookup import find_experiment
from worksample.people import Account, PeopleRound, Role, RoundKind, list_queues, own_queues, top_up
from worksample.people.quality import round_dashboard as dashboard
from worksample.people.rounds.experiment_rounds import kind_of
from worksample.people.rounds.forms import BY_CRITERIA, FORM_OF
from worksample.people.rounds.item_plan import RoundForm
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol, ResolutionRule, Round

if TYPE_CHECKING:
    from worksample.people import People, Queue
    from worksample.store import Store

_OF_DELIVERABLES = (RoundKind.HOLISTIC, RoundKind.RUBRIC, RoundKind.TAGS)
REASON = "one person's own review"


@dataclass(frozen=True, slots=True)
class Review:
    """What is ready to be judged. `left`: items that this person can still be given; `votes`: wanted on each."""

    account: Account
    experiment: Experiment
    round: str
    left: int
    votes: int


def open_review(people: People, name: str, experiment: str | None = None, *, alone: bool = False) -> Review:
    """Make the account and, where the experiment has no open round, a round of one vote each without training gate.

    `experiment`: name or id, by default the newest. `alone`: rounds that want more than one vote do not count, so that
    one person decides; the later round is the one in force. UsageError where there is no experiment; PlanError where it
    has no work.
    """
    account = people.accounts.create(name, [role.value for role in Role])
    if account.disabled or account.roles != frozenset(Role):
        account = people.accounts.change(account.id, None, roles=[role.value for role in Role], disabled=False)
    people.leasing.note_said(account)
    chosen = find_experiment(people.store, experiment or "")
    judged = {r.id for r in people.store.find(Round, experiment=chosen.id) if r.by is EvaluatorKind.JUDGE}
    found = [q for q in list_queues(people.store) if _covers(q, chosen.id, judged)]
    if alone:
        found = [q for q in found if people.store.get(Round, q.round).overlap == 1]
    # A round of deliverables rather than one of pairs that was opened since.
    found.sort(key=lambda q: (left_of(people, account, q.round) > 0, q.kind in _OF_DELIVERABLES))
    if found:
        round = found[-1].round
        if found[-1].kind in _OF_DELIVERABLES:
            top_up(people.store, round)
    else:
        protocol = _judged(people.store, chosen)
        kind = kind_of(protocol)
        round = people.open_people_round(
            PeopleRound(
                kind=kind,
                experiment=chosen.id,
                rule=ResolutionRule.LATEST,
                overlap=1,
                training=False,
                again_by_others=False,
                protocol=protocol if kind is RoundKind.RUBRIC else None,
                waive_pilot=REASON,
                reason=REASON,
            )
        ).id
    votes = people.store.get(Round, round).overlap
    return Review(account, chosen, round, left_of(people, account, round), votes)


def left_besides(people: People, review: Review) -> tuple[int, int]:
    """Of the experiment's other queues: items that this person can be given, and items that are for somebody else only,
    such as one who did not label the work before.
    """
    mine = others = 0
    judged = {r.id for r in people.store.find(Round, experiment=review.experiment.id) if r.by is EvaluatorKind.JUDGE}
    for queue in list_queues(people.store):
        round = people.store.get(Round, queue.round)
        # Where one vote decides, a round that wants more was left for it.
        if not _covers(queue, review.experiment.id, judged) or (review.votes == 1 < round.overlap):
            continue
        own = left_of(people, review.account, queue.round)
        others += max(0, others_wanted(people, queue.round) - own)
        mine += own if queue.round != review.round else 0
    return mine, others


def others_wanted(people: People, round: str) -> int:
    """Items of a round that still want votes, whoever may give them."""
    progress = dashboard.progress(people.store, round)
    return progress.items - progress.complete - progress.withdrawn


def left_of(people: People, account: Account, round: str) -> int:
    """Items of a round that the person can still be given, open ones too."""
    return sum(s.left + s.open for s in own_queues(people.store, account) if s.queue.round == round)


def _judged(store: Store, experiment: Experiment) -> Protocol:
    """The experiment's first protocol that people answer for; where a program does all of it, the work as a whole."""
    instances = [store.get(Instance, id) for id in experiment.lock.instances]
    for protocol in experiment.lock.protocols:
        if protocol not in BY_CRITERIA:
            return protocol
        asking = RoundForm(FORM_OF[RoundKind.RUBRIC], protocol)
        if any(asking.of(instance) for instance in instances):
            return protocol
    return Protocol.HOLISTIC


def _covers(queue: Queue, experiment: str, judged: set[str]) -> bool:
    """Over the experiment, or over what its judges may not decide."""
    mine = queue.settings["experiment"] == experiment
    return queue.state == "open" and (
        mine or (queue.kind is RoundKind.ADJUDICATION and queue.settings["over"] in judged)
    )
