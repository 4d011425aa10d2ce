"""Overview of experiments: which work waits for people or judges, and on what evaluators disagree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Path

from worksample.app.server.authentication import Admin, Reviewer, ServicesOf
from worksample.app.server.json_models import ResponseBody
from worksample.app.server.middleware.error_responses import error_responses
from worksample.app.server.route_services import AppServices
from worksample.app.workstations.responses import assignment_views
from worksample.app.workstations.schemas import AssignmentView
from worksample.experiments.status import status_and_waits
from worksample.people import Account, Form, Queue, list_queues, refuse_votes_at_work
from worksample.people.access.evaluator_profile import person_of
from worksample.people.quality.disagreements import DisputedAnswer, DisputedQuestion, disputed_questions, names_of
from worksample.people.quality.round_dashboard import wanted_votes
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol, Submission

router = APIRouter(prefix="/api/v1", tags=["waiting"])
ExperimentId = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]


MOST_WAITING = 50
"""Most waiting submissions of an experiment in the list."""
MOST = 500
"""Most disagreements in the list."""


class RoundWaits(ResponseBody):
    """Work left in a round. `votes`: still wanted from people. `minutes`: per vote, the median so far, else the form's
    soft limit (`measured` is then false). `hours` and `pay` (US dollars) are what remains; null means unknown.
    """

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
    """A submission without a verdict, and the kind of evaluator that it waits for."""

    submission: str
    instance: str
    waits_for: Literal["person", "judge", "program"]


class ExperimentWaits(ResponseBody):
    """Submissions by what they wait for, under the experiment's first protocol. `open`: slots whose trial is not
    finished. `work`: the first waiting submissions, by instance. `reattempts`: planned submissions that come from
    re-attempts; `due`: re-attempts that the next run makes. `places`: open slots of people who work; `seats`: the
    assigned ones of these.
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
    seats: tuple[AssignmentView, ...]


class Side(ResponseBody):
    """An evaluator's answer. `passed`: the result that is disputed; `said`: the answer in the form's words."""

    evaluation: str
    round: str
    kind: Literal["person", "judge", "program"]
    name: str
    passed: bool
    said: str
    why: str


class Disagreement(ResponseBody):
    """A question about a submission on which evaluators disagree. `criterion` is "" for the submission as a whole."""

    submission: str
    instance: str
    criterion: str
    text: str
    between: tuple[Literal["person", "judge", "program"], ...]
    """The kinds of evaluator that disagree; one kind if people disagree with people."""
    sides: tuple[Side, ...]


class Disagreements(ResponseBody):
    """`looked_at`: questions that two or more evaluators answered. The list is cut at `most`."""

    looked_at: int
    parted: int
    most: int
    rows: tuple[Disagreement, ...]


@router.get("/waiting", responses=error_responses(401, 403))
def waiting(services: ServicesOf, account: Admin) -> list[ExperimentWaits]:
    """List what waits for people and judges, with the hours and pay that remain."""
    return waiting_of(services)


@router.get("/experiments/{id}/disagreements", responses=error_responses(401, 403, 404, 409))
def disagreements(id: ExperimentId, services: ServicesOf, account: Reviewer) -> Disagreements:
    """List the disagreements of people, judges and programs about the same work."""
    return disagreements_of(services, account, id)


def waiting_of(services: AppServices) -> list[ExperimentWaits]:
    """Describe each experiment, the latest first. Rounds that belong to no experiment are left out."""
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
        work=tuple(_work(services, whom)), seats=assignment_views(services, experiment) if now.places else (),
    )  # fmt: skip


def _work(services: AppServices, whom: dict[str, EvaluatorKind]) -> Iterator[WaitingWork]:
    ids = sorted(whom)
    made = [s for n in range(0, len(ids), 400) for s in services.store.find(Submission, id=ids[n : n + 400])]
    keys = {id: services.store.get(Instance, id).key for id in {s.instance for s in made}}
    for s in sorted(made, key=lambda s: (keys[s.instance], s.id))[:MOST_WAITING]:
        yield WaitingWork(submission=s.id, instance=keys[s.instance], waits_for=whom[s.id].value)


def _round(services: AppServices, queue: Queue) -> RoundWaits:
    left = wanted_votes(services.store, queue)
    return RoundWaits(
        round=queue.round, kind=queue.kind, form=queue.form, protocol=queue.protocol,
        state=queue.state,  # type: ignore[arg-type]
        votes=left.votes, out=left.out, minutes=left.minutes, measured=left.measured, hours=left.hours, pay=left.pay,
    )  # fmt: skip


def disagreements_of(services: AppServices, account: Account, experiment: str) -> Disagreements:
    """List an experiment's disagreements. Raises Conflict while the person has an item of its rounds open,
    RecordMissing.
    """
    services.store.get(Experiment, experiment)
    found = disputed_questions(services.store, experiment)
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


def _disagreement(p: DisputedQuestion, keys: dict[str, str], names: dict[str, str]) -> Disagreement:
    return Disagreement(
        submission=p.submission, instance=keys[p.instance], criterion=p.criterion, text=p.text,
        between=tuple(kind.value for kind in p.between), sides=tuple(_side(a, names) for a in p.answers),
    )  # fmt: skip


def _side(a: DisputedAnswer, names: dict[str, str]) -> Side:
    return Side(
        evaluation=a.evaluation, round=a.round, kind=a.kind.value, name=names.get(a.evaluator, a.evaluator),
        passed=a.passed, said=a.said, why=a.why,
    )  # fmt: skip
