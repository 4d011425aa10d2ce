"""HTTP routes for rounds by people: open, list, pause, top up, dashboard."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from anyio.from_thread import run_sync as on_the_loop
from fastapi import APIRouter, Path

from worksample.app.rounds.dashboard import dashboard_of
from worksample.app.rounds.responses import all_rounds, find_round, jobs_of, round_detail, screen_jobs
from worksample.app.rounds.schemas import (
    Added,
    Dashboard,
    JobRow,
    NewRound,
    RoundDetail,
    RoundRow,
    SetState,
    StruckView,
)
from worksample.app.server.authentication import Admin, Reviewer, ServicesOf
from worksample.app.server.middleware.error_responses import error_responses
from worksample.app.server.route_services import AppServices
from worksample.people import Gold, PeopleRound, RoundKind, refill_queue, set_state, top_up
from worksample.people import struck_records as amending
from worksample.records import Amendment

router = APIRouter(prefix="/api/v1/rounds", tags=["rounds"])
RoundId = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]


@router.get("", responses=error_responses(401, 403))
def rounds(services: ServicesOf, account: Reviewer) -> list[RoundRow]:
    """List all rounds by people, the latest first."""
    return all_rounds(services)


@router.post("", status_code=201, responses=error_responses(401, 403, 404))
def open_round(body: NewRound, services: ServicesOf, account: Admin) -> RoundDetail:
    """Open a round and fill its queue."""
    plain = body.model_dump(exclude={"gold", "roles", "questions", "look"})
    gold = tuple(Gold(g.subject, g.expected, g.explanation, g.second) for g in body.gold)
    roles = frozenset(body.roles) if body.roles is not None else None
    config = PeopleRound(**plain, gold=gold, roles=roles, questions=body.questions)
    if config.kind is RoundKind.QUALIFICATION and body.look:
        config = replace(config, looks=screen_jobs(services.store, config.subjects))
    round = services.people.open_people_round(config, by=account)
    _prepare(services)
    return round_detail(services, account, round.id)


@router.get("/jobs", responses=error_responses(401, 403))
def jobs(services: ServicesOf, account: Admin) -> list[JobRow]:
    """List the jobs that a qualification can ask about, each in its latest version."""
    return jobs_of(services.store)


@router.get("/{id}", responses=error_responses(401, 403, 404))
def round(id: RoundId, services: ServicesOf, account: Reviewer) -> RoundDetail:
    """Return one round with its settings."""
    return round_detail(services, account, id)


@router.post("/{id}/state", responses=error_responses(401, 403, 404))
def set_round_state(id: RoundId, body: SetState, services: ServicesOf, account: Admin) -> RoundDetail:
    """Open, pause or close a round's queue. Items that people have already can still be submitted."""
    find_round(services, id)
    set_state(services.store, id, body.state, by=account)
    return round_detail(services, account, id)


@router.post("/{id}/top-up", responses=error_responses(401, 403, 404))
def top_up_round(id: RoundId, services: ServicesOf, account: Admin) -> Added:
    """Add items for submissions that arrived after the round was opened."""
    find_round(services, id)
    added = top_up(services.store, id)
    _prepare(services)
    return Added(added=added)


@router.post("/{id}/restock", responses=error_responses(401, 403, 404))
def restock_round(id: RoundId, services: ServicesOf, account: Admin) -> Added:
    """Rebuild the round's queue after the database was lost."""
    added = refill_queue(services.store, id, clock=services.people.clock)
    _prepare(services)
    return Added(added=added)


@router.post("/{id}/strike-findings", responses=error_responses(401, 403, 404))
def strike_findings(id: RoundId, services: ServicesOf, account: Admin) -> StruckView:
    """Strike the submissions in which this round's integrity reviews found something."""
    find_round(services, id)
    made: list[Amendment] = amending.strike_findings(services.store, account, id, clock=services.people.clock)
    return StruckView(amendments=tuple(a.id for a in made), submissions=tuple(a.target_id for a in made))


@router.get("/{id}/dashboard", responses=error_responses(401, 403, 404))
def dashboard(id: RoundId, services: ServicesOf, account: Reviewer) -> Dashboard:
    """Return the round's figures: progress, agreement, leniency, position bias, throughput, gold."""
    return dashboard_of(services, id)


def _prepare(services: AppServices) -> None:
    """Start making views of the new items, on the event loop's thread."""
    on_the_loop(services.view_preparer.refresh)
