"""What was said and what it comes to; experiments and pilots, from which rounds are made."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from worksample.app.evidence.round_evidence import author_of, leaks_of, preferences_of, verdicts_of, votes_of
from worksample.app.evidence.schemas import (
    AmendmentView,
    ExperimentView,
    Leaks,
    NewAmendment,
    Pilots,
    PilotView,
    Preferences,
    SubmissionView,
    Verdicts,
    Votes,
)
from worksample.app.evidence.submission_page import submission_of
from worksample.app.rounds.routes import RoundId
from worksample.app.server.authentication import Admin, Reviewer, ServicesOf, SessionOf
from worksample.app.server.figures import figure_of, micros_of
from worksample.app.server.middleware.error_responses import fails
from worksample.people import amendments as amending
from worksample.people import pilots as pilots_of
from worksample.people.rounds.pilot import FEWEST, NEEDED
from worksample.people.rounds.subjects import submissions_of
from worksample.records import Experiment

router = APIRouter(prefix="/api/v1", tags=["evidence"])
SubmissionId = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]
Names = Annotated[bool, Query(description="Say who made what. Admins only; bars the account from judging it.")]


@router.get("/rounds/{id}/verdicts", responses=fails(401, 403, 404, 409))
def verdicts(id: RoundId, services: ServicesOf, account: Reviewer, names: Names = False) -> Verdicts:
    """What the round comes to after audit and adjudication."""
    return verdicts_of(services, account, id, names=names)


@router.get("/rounds/{id}/votes", responses=fails(401, 403, 404, 409))
def votes(id: RoundId, services: ServicesOf, account: Reviewer, names: Names = False) -> Votes:
    """Every evaluation with its voter, struck or not."""
    return votes_of(services, account, id, names=names)


@router.get("/rounds/{id}/preferences", responses=fails(401, 403, 404, 409))
def preferences(id: RoundId, services: ServicesOf, account: Admin, names: Names = False) -> Preferences:
    """What the votes of a round of pairs come to, per project and pair of agents."""
    return preferences_of(services, account, id, names=names)


@router.get("/rounds/{id}/leaks", responses=fails(401, 403, 404))
def leaks(id: RoundId, services: ServicesOf, account: Admin) -> Leaks:
    """Delivered files that may still say who made them."""
    return leaks_of(services, id)


@router.get("/submissions/{id}", responses=fails(401, 403, 404, 409))
def submission(
    id: SubmissionId, services: ServicesOf, account: Reviewer, session: SessionOf, names: Names = False
) -> SubmissionView:
    """One piece of work: the brief, what was delivered, what was said of it; with names also its steps."""
    return submission_of(services, session, account, id, names=names)


@router.post("/amendments", status_code=201, responses=fails(401, 403, 404))
def amend(body: NewAmendment, services: ServicesOf, account: Admin) -> AmendmentView:
    """Strike or restore a record; nothing is deleted."""
    made = amending.amend(
        services.store, account, body.action, body.target, body.target_id, body.reason, clock=services.people.clock
    )
    return AmendmentView(
        id=made.id, action=made.action, target=made.target, target_id=made.target_id, reason=made.reason,
        author=author_of(made, {account.id: account.name}), at=micros_of(made.at),
    )  # fmt: skip


@router.get("/experiments", responses=fails(401, 403))
def experiments(services: ServicesOf, account: Admin) -> list[ExperimentView]:
    """All experiments, the latest first."""
    found = sorted(services.store.find(Experiment), key=lambda e: e.at, reverse=True)
    return [
        ExperimentView(
            id=e.id, name=e.name, suite=e.lock.suite, agents=len(e.agents), instances=len(e.lock.instances),
            repeats=e.repeats, submissions=len(submissions_of(services.store, e.id)), at=micros_of(e.at),
        )
        for e in found
    ]  # fmt: skip


@router.get("/pilots", responses=fails(401, 403))
def pilots(services: ServicesOf, account: Admin) -> Pilots:
    """Whether a pilot has opened the version of instructions in force."""
    digest = services.people.instructions.digest
    rows = tuple(
        PilotView(round=p.round, share=figure_of(p.share), items=p.items, passed=p.passed)
        for p in pilots_of(services.store, digest)
    )
    return Pilots(
        instructions=digest, passed=any(p.passed for p in rows), needed=NEEDED, fewest=FEWEST, pilots=rows
    )  # fmt: skip
