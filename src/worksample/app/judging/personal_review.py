"""A review by one person (`worksample review`): an account with every role, and a round over an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.experiments.experiment_lookup import find_experiment
from worksample.people import Account, PeopleRound, Role, RoundKind, list_queues, own_queues, top_up
from worksample.people.quality import round_dashboard as dashboard
from worksample.people.rounds.experiment_rounds import kind_of
from worksample.people.rounds.item_plan import RoundForm
from worksample.people.rounds.judging_forms import BY_CRITERIA, FORM_OF
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol, ResolutionRule, Round

if TYPE_CHECKING:
    from worksample.people import People, Queue
    from worksample.store import Store

_OF_DELIVERABLES = (RoundKind.HOLISTIC, RoundKind.RUBRIC, RoundKind.TAGS)
REASON = "one person's own review"


@dataclass(frozen=True, slots=True)
class Review:
    """A review that is ready. `left`: items that this person can still get; `votes`: votes wanted on each item."""

    account: Account
    experiment: Experiment
    round: str
    left: int
    votes: int


def open_review(people: People, name: str, experiment: str | None = None, *, alone: bool = False) -> Review:
    """Create the account and, if the experiment has no open round, a round with one vote per item and no training gate.

    `experiment`: name or id, by default the newest. `alone`: ignore rounds that want more than one vote, so that one
    person decides; the later round is in force. Raises UsageError if there is no experiment, PlanError if it has no
    submissions.
    """
    account = people.accounts.create(name, [role.value for role in Role])
    if account.disabled or account.roles != frozenset(Role):
        account = people.accounts.change(account.id, None, roles=[role.value for role in Role], disabled=False)
    people.leasing.mark_submitted(account)
    chosen = find_experiment(people.store, experiment or "")
    judged = {r.id for r in people.store.find(Round, experiment=chosen.id) if r.by is EvaluatorKind.JUDGE}
    found = [q for q in list_queues(people.store) if _covers(q, chosen.id, judged)]
    if alone:
        found = [q for q in found if people.store.get(Round, q.round).overlap == 1]
    # Prefer a round of deliverables to a later one of pairs.
    found.sort(key=lambda q: (items_left(people, account, q.round) > 0, q.kind in _OF_DELIVERABLES))
    if found:
        round = found[-1].round
        if found[-1].kind in _OF_DELIVERABLES:
            top_up(people.store, round)
    else:
        protocol = _protocol_for_people(people.store, chosen)
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
    return Review(account, chosen, round, items_left(people, account, round), votes)


def items_left_elsewhere(people: People, review: Review) -> tuple[int, int]:
    """Count the items in the experiment's other queues: those this person can get, and those only others can get.

    Others are needed, for example, if this person has labelled the work before.
    """
    mine = others = 0
    judged = {r.id for r in people.store.find(Round, experiment=review.experiment.id) if r.by is EvaluatorKind.JUDGE}
    for queue in list_queues(people.store):
        round = people.store.get(Round, queue.round)
        # If one vote decides, rounds that want more were replaced by this one.
        if not _covers(queue, review.experiment.id, judged) or (review.votes == 1 < round.overlap):
            continue
        own = items_left(people, review.account, queue.round)
        others += max(0, items_wanting_votes(people, queue.round) - own)
        mine += own if queue.round != review.round else 0
    return mine, others


def items_wanting_votes(people: People, round: str) -> int:
    """Count the items of a round that still want votes from anybody."""
    progress = dashboard.progress(people.store, round)
    return progress.items - progress.complete - progress.withdrawn


def items_left(people: People, account: Account, round: str) -> int:
    """Count the items of a round that the person can still get, open ones included."""
    return sum(s.left + s.open for s in own_queues(people.store, account) if s.queue.round == round)


def _protocol_for_people(store: Store, experiment: Experiment) -> Protocol:
    """Return the first protocol of the experiment that asks people anything; the holistic one if programs do it all."""
    instances = [store.get(Instance, id) for id in experiment.lock.instances]
    for protocol in experiment.lock.protocols:
        if protocol not in BY_CRITERIA:
            return protocol
        asking = RoundForm(FORM_OF[RoundKind.RUBRIC], protocol)
        if any(asking.of(instance) for instance in instances):
            return protocol
    return Protocol.HOLISTIC


def _covers(queue: Queue, experiment: str, judged: set[str]) -> bool:
    """Return whether an open queue belongs to the experiment, or adjudicates work that its judges may not decide."""
    mine = queue.settings["experiment"] == experiment
    return queue.state == "open" and (
        mine or (queue.kind is RoundKind.ADJUDICATION and queue.settings["over"] in judged)
    )
