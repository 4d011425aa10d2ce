"""HTTP routes that tell admins which formats this server can show and how far the conversion of deliverables is."""

from __future__ import annotations

from fastapi import APIRouter

from worksample.app.server.authentication import Admin, ServicesOf
from worksample.app.server.json_models import Micros, ResponseBody
from worksample.app.server.middleware.error_responses import error_responses
from worksample.viewing import formats as formats_of

router = APIRouter(prefix="/api/v1", tags=["machine"])


class FormatView(ResponseBody):
    """A file format. `line`: the command that installs a missing converter."""

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
    """Progress of conversion. `asked`: views that somebody waits for."""

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
    """List all formats that can be shown, and what this machine lacks for them."""
    return [
        FormatView(
            title=f.title, extensions=f.extensions, kind=f.kind, badge=f.badge, needs=f.needs, here=f.here, line=f.line
        )
        for f in formats_of()
    ]


@router.get("/conversions", responses=error_responses(401, 403))
def conversions(services: ServicesOf, account: Admin) -> Conversions:
    """Return the progress of conversion."""
    found = services.view_preparer.progress()
    faults = tuple(ConversionFault(what=f["what"], next=f["next"], at=f["at"]) for f in found.pop("faults"))
    running = tuple(RunningFolder(**f) for f in found.pop("running"))
    return Conversions(**found, running=running, faults=faults)
