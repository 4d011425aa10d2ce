"""What this server can show, and how far it is with showing it."""

from __future__ import annotations

from fastapi import APIRouter

from worksample.app.authentication import Admin, ServicesOf
from worksample.app.middleware.problems import fails
from worksample.app.schemas.admin_office import ConversionFault, Conversions, FormatView, RunningFolder
from worksample.viewing import formats as formats_of

router = APIRouter(prefix="/api/v1", tags=["machine"])


@router.get("/formats", responses=fails(401, 403))
def formats(services: ServicesOf, account: Admin) -> list[FormatView]:
    """Every format that is shown, and what this machine lacks for it."""
    return [
        FormatView(
            title=f.title, extensions=f.extensions, kind=f.kind, badge=f.badge, needs=f.needs, here=f.here, line=f.line
        )
        for f in formats_of()
    ]


@router.get("/conversions", responses=fails(401, 403))
def conversions(services: ServicesOf, account: Admin) -> Conversions:
    """How far the preparing of deliverables is."""
    found = services.preparing.progress()
    faults = tuple(ConversionFault(what=f["what"], next=f["next"], at=f["at"]) for f in found.pop("faults"))
    running = tuple(RunningFolder(**f) for f in found.pop("running"))
    return Conversions(**found, running=running, faults=faults)
