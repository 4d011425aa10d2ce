"""What waits for whom, and where evaluators part."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from worksample.app.authentication import Admin, Reviewer, ServicesOf
from worksample.app.middleware.problems import fails
from worksample.app.presenters.waiting import disagreements_of, waiting_of
from worksample.app.schemas.waiting import Disagreements, ExperimentWaits

router = APIRouter(prefix="/api/v1", tags=["waiting"])
ExperimentId = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]


@router.get("/waiting", responses=fails(401, 403))
def waiting(services: ServicesOf, account: Admin) -> list[ExperimentWaits]:
    """What waits for people and for judges, and the hours and pay that are left."""
    return waiting_of(services)


@router.get("/experiments/{id}/disagreements", responses=fails(401, 403, 404, 409))
def disagreements(id: ExperimentId, services: ServicesOf, account: Reviewer) -> Disagreements:
    """Where people, judges and programs part on the same work."""
    return disagreements_of(services, account, id)
