"""HTTP routes for verdicts, votes, submissions, amendments, experiments and pilots."""

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
from worksample.app.server.json_figures import figure_of, micros_of
from worksample.app.server.middleware.error_responses import error_responses
from worksample.people import pilots as pilots_of
from worksample.people import struck_records as amending
from worksample.people.rounds.pilot_gate import FEWEST, NEEDED
from worksample.people.rounds.round_subjects import submissions_of
from worksample.records import Experiment

router = APIRouter(prefix="/api/v1", tags=["evidence"])
SubmissionId = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]
Names = Annotated[bool, Query(description="Say who made what. Admins only; bars the account from judging it.")]


@router.get("/rounds/{id}/verdicts", responses=error_responses(401, 403, 404, 409))
def verdicts(id: RoundId, services: ServicesOf, account: Reviewer, names: Names = False) -> Verdicts:
    """Return the round's verdicts after audit and adjudication."""
    return verdicts_of(services, account, id, names=names)


@router.get("/rounds/{id}/votes", responses=error_responses(401, 403, 404, 409))
def votes(id: RoundId, services: ServicesOf, account: Reviewer, names: Names = False) -> Votes:
    """Return all votes with their voters, struck or not."""
    return votes_of(services, account, id, names=names)


@router.get("/rounds/{id}/preferences", responses=error_responses(401, 403, 404, 409))
def preferences(id: RoundId, services: ServicesOf, account: Admin, names: Names = False) -> Preferences:
    """Return the preferences of a round of pairs, per project and pair of agents."""
    return preferences_of(services, account, id, names=names)


@router.get("/rounds/{id}/leaks", responses=error_responses(401, 403, 404))
def leaks(id: RoundId, services: ServicesOf, account: Admin) -> Leaks:
    """List delivered files that may reveal their maker."""
    return leaks_of(services, id)


@router.get("/submissions/{id}", responses=error_responses(401, 403, 404, 409))
def submission(
    id: SubmissionId, services: ServicesOf, account: Reviewer, session: SessionOf, names: Names = False
) -> SubmissionView:
    """Return one submission: brief, deliverables and votes; with names also the agent's steps."""
    return submission_of(services, session, account, id, names=names)


@router.post("/amendments", status_code=201, responses=error_responses(401, 403, 404))
def amend(body: NewAmendment, services: ServicesOf, account: Admin) -> AmendmentView:
    """Strike or restore a record; nothing is deleted."""
    made = amending.amend(
        services.store, account, body.action, body.target, body.target_id, body.reason, clock=services.people.clock
    )
    return AmendmentView(
        id=made.id, action=made.action, target=made.target, target_id=made.target_id, reason=made.reason,
        author=author_of(made, {account.id: account.name}), at=micros_of(made.at),
    )  # fmt: skip


@router.get("/experiments", responses=error_responses(401, 403))
def experiments(services: ServicesOf, account: Admin) -> list[ExperimentView]:
    """List all experiments, the latest first."""
    found = sorted(services.store.find(Experiment), key=lambda e: e.at, reverse=True)
    return [
        ExperimentView(
            id=e.id, name=e.name, suite=e.lock.suite, agents=len(e.agents), instances=len(e.lock.instances),
            repeats=e.repeats, submissions=len(submissions_of(services.store, e.id)), at=micros_of(e.at),
        )
        for e in found
    ]  # fmt: skip


@router.get("/pilots", responses=error_responses(401, 403))
def pilots(services: ServicesOf, account: Admin) -> Pilots:
    """List the pilots of the instructions in force, and tell whether one has passed."""
    digest = services.people.instructions.digest
    rows = tuple(
        PilotView(round=p.round, share=figure_of(p.share), items=p.items, passed=p.passed)
        for p in pilots_of(services.store, digest)
    )
    return Pilots(
        instructions=digest, passed=any(p.passed for p in rows), needed=NEEDED, fewest=FEWEST, pilots=rows
    )  # fmt: skip
