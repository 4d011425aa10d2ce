"""What this server can show, and how far it is with showing it."""

from __future__ import annotations

from fastapi import APIRouter

from worksample.app.server.authentication import Admin, ServicesOf
from worksample.app.server.json_models import Micros, ResponseBody
from worksample.app.server.middleware.error_responses import error_responses
from worksample.viewing import formats as formats_of

router = APIRouter(prefix="/api/v1", tags=["machine"])


class FormatView(ResponseBody):
    """`line`: what to type where something that it needs is missing."""

    title: str
    extensions: tuple[str, ...]
    kind: str
    badge: str
    needs: tuple[str, ...]
    here: bool
    line: str


class RunningFolder(ResponseBody):
    files: int
    done: int
    seconds: float


class ConversionFault(ResponseBody):
    what: str
    next: str
    at: Micros


class Conversions(ResponseBody):
    """How far the preparing of deliverables is. `asked`: views that somebody waits for."""

    folders: int
    done: int
    waiting: int
    failed: int
    running: tuple[RunningFolder, ...]
    asked: int
    boxes: int
    faults: tuple[ConversionFault, ...]


@router.get("/formats", responses=error_responses(401, 403))
def formats(services: ServicesOf, account: Admin) -> list[FormatView]:
    """Every format that is shown, and what this machine lacks for it."""
    return [
        FormatView(
            title=f.title, extensions=f.extensions, kind=f.kind, badge=f.badge, needs=f.needs, here=f.here, line=f.line
        )
        for f in formats_of()
    ]


@router.get("/conversions", responses=error_responses(401, 403))
def conversions(services: ServicesOf, account: Admin) -> Conversions:
    """How far the preparing of deliverables is."""
    found = services.view_preparer.progress()
    faults = tuple(ConversionFault(what=f["what"], next=f["next"], at=f["at"]) for f in found.pop("faults"))
    running = tuple(RunningFolder(**f) for f in found.pop("running"))
    return Conversions(**found, running=running, faults=faults)
