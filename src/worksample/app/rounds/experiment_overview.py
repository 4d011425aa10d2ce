"""What waits for whom, and where evaluators part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Path

from worksample.app.server.authentication import Admin, Reviewer, ServicesOf
from worksample.app.server.json_models import ResponseBody
from worksample.app.server.middleware.error_responses import fails
from worksample.app.server.services import AppServices
from worksample.app.workstations.responses import seats_of
from worksample.app.workstations.schemas import SeatView
from worksample.experiments.status import status_and_waits
from worksample.people import Account, Form, Queue, list_queues, refuse_votes_at_work
from worksample.people.access.profile import person_of
from worksample.people.quality.disagreements import DisputedAnswer, Parting, names_of, partings
from worksample.people.quality.round_dashboard import wanted_of
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol, Submission

router = APIRouter(prefix="/api/v1", tags=["waiting"])
ExperimentId = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]


MOST_WAITING = 50
"""Submissions of an experiment that one page lists among those that wait."""
MOST = 500
"""Disagreements that one page lists."""


class RoundWaits(ResponseBody):
    """`votes`: still wanted of people. `minutes`: of one, the median so far, else the form's soft limit (`measured`
    false). `hours` and `pay` (US dollars) are what is left; null is unknown."""

    round: str
    kind: str
    form: Form
    protocol: Protocol
    state: Literal["open", "paused", "closed"]
    votes: int
    out: int
    minutes: float
    measured: bool
    hours: float
    pay: float | None


class WaitingWork(ResponseBody):
    """A submission without a verdict, and for whom it waits."""

    submission: str
    instance: str
    waits_for: Literal["person", "judge", "program"]


class ExperimentWaits(ResponseBody):
    """Submissions by what they wait for, under the experiment's first protocol; `open` slots are still worked at.
    `work`: the first of those that wait, by instance. `reattempts`: of the planned ones those that chains committed;
    `due`: those that the rule asks for by now, and that the next run makes. `places`: open ones of people who work,
    `seats` those that somebody has.
    """

    experiment: str
    name: str
    planned: int
    open: int
    graded: int
    waits_for_people: int
    waits_for_judge: int
    ungraded: int
    reattempts: int
    due: int
    places: int
    rounds: tuple[RoundWaits, ...]
    work: tuple[WaitingWork, ...]
    seats: tuple[SeatView, ...]


class Side(ResponseBody):
    """What one evaluator said. `passed` is what parts them; `said` is it in the form's words."""

    evaluation: str
    round: str
    kind: Literal["person", "judge", "program"]
    name: str
    passed: bool
    said: str
    why: str


class Disagreement(ResponseBody):
    """Evaluators who part on one question about a submission. `criterion` "" is the whole."""

    submission: str
    instance: str
    criterion: str
    text: str
    between: tuple[Literal["person", "judge", "program"], ...]
    """The kinds that part: one kind where people part with people."""
    sides: tuple[Side, ...]


class Disagreements(ResponseBody):
    """`looked_at`: questions that two or more answered. The list is cut at `most`."""

    looked_at: int
    parted: int
    most: int
    rows: tuple[Disagreement, ...]


@router.get("/waiting", responses=fails(401, 403))
def waiting(services: ServicesOf, account: Admin) -> list[ExperimentWaits]:
    """What waits for people and for judges, and the hours and pay that are left."""
    return waiting_of(services)


@router.get("/experiments/{id}/disagreements", responses=fails(401, 403, 404, 409))
def disagreements(id: ExperimentId, services: ServicesOf, account: Reviewer) -> Disagreements:
    """Where people, judges and programs part on the same work."""
    return disagreements_of(services, account, id)


def waiting_of(services: AppServices) -> list[ExperimentWaits]:
    """Experiment by experiment, the latest first; rounds of others' work stand with none."""
    queues: dict[str, list[Queue]] = {}
    for queue in list_queues(services.store):
        if queue.settings["experiment"]:
            queues.setdefault(queue.settings["experiment"], []).append(queue)
    found = sorted(services.store.find(Experiment), key=lambda e: (e.at, e.id), reverse=True)
    return [_experiment(services, e, queues.get(e.id, [])) for e in found]


def _experiment(services: AppServices, experiment: Experiment, queues: list[Queue]) -> ExperimentWaits:
    now, whom = status_and_waits(services.store, experiment)
    return ExperimentWaits(
        experiment=experiment.id, name=experiment.name, planned=now.planned, open=now.open, graded=now.graded,
        waits_for_people=now.waits_for_people, waits_for_judge=now.waits_for_judge, ungraded=now.ungraded,
        reattempts=now.reattempts, due=now.due, places=now.places,
        rounds=tuple(_round(services, queue) for queue in queues if queue.state != "closed"),
        work=tuple(_work(services, whom)), seats=seats_of(services, experiment) if now.places else (),
    )  # fmt: skip


def _work(services: AppServices, whom: dict[str, EvaluatorKind]) -> Iterator[WaitingWork]:
    ids = sorted(whom)
    made = [s for n in range(0, len(ids), 400) for s in services.store.find(Submission, id=ids[n : n + 400])]
    keys = {id: services.store.get(Instance, id).key for id in {s.instance for s in made}}
    for s in sorted(made, key=lambda s: (keys[s.instance], s.id))[:MOST_WAITING]:
        yield WaitingWork(submission=s.id, instance=keys[s.instance], waits_for=whom[s.id].value)


def _round(services: AppServices, queue: Queue) -> RoundWaits:
    left = wanted_of(services.store, queue)
    return RoundWaits(
        round=queue.round, kind=queue.kind, form=queue.form, protocol=queue.protocol,
        state=queue.state,  # type: ignore[arg-type]
        votes=left.votes, out=left.out, minutes=left.minutes, measured=left.measured, hours=left.hours, pay=left.pay,
    )  # fmt: skip


def disagreements_of(services: AppServices, account: Account, experiment: str) -> Disagreements:
    """Conflict while an item of one of the rounds is open to the person; RecordMissing."""
    services.store.get(Experiment, experiment)
    found = partings(services.store, experiment)
    for round in sorted(found.rounds):
        refuse_votes_at_work(services.store, account, round)
    shown = found.found[:MOST]
    evaluators = {a.evaluator for p in shown for a in p.answers}
    names = names_of(services.store, evaluators)
    accounts = {a.id: a.name for a in services.people.accounts.all()}
    names |= {id: accounts[person_of(id)] for id in evaluators if person_of(id) in accounts}
    keys = {id: services.store.get(Instance, id).key for id in {p.instance for p in shown}}
    rows = tuple(_disagreement(p, keys, names) for p in shown)
    return Disagreements(looked_at=found.looked_at, parted=len(found.found), most=MOST, rows=rows)


def _disagreement(p: Parting, keys: dict[str, str], names: dict[str, str]) -> Disagreement:
    return Disagreement(
        submission=p.submission, instance=keys[p.instance], criterion=p.criterion, text=p.text,
        between=tuple(kind.value for kind in p.between), sides=tuple(_side(a, names) for a in p.answers),
    )  # fmt: skip


def _side(a: DisputedAnswer, names: dict[str, str]) -> Side:
    return Side(
        evaluation=a.evaluation, round=a.round, kind=a.kind.value, name=names.get(a.evaluator, a.evaluator),
        passed=a.passed, said=a.said, why=a.why,
    )  # fmt: skip
