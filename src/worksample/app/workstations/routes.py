"""HTTP routes of people who work: take work, start and pause the timer, terminal, files, hand in."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from starlette.concurrency import run_in_threadpool

from worksample.app.server.authentication import Admin, ServicesOf, Worker
from worksample.app.server.middleware.error_responses import error_responses
from worksample.app.server.route_services import AppServices
from worksample.app.workstations.responses import (
    folder_listing,
    hand_in_receipt,
    person_at_work,
    timer_of,
    work_page,
    work_rows,
)
from worksample.app.workstations.schemas import (
    Ask,
    FolderListing,
    HandIn,
    HandInReceipt,
    Keys,
    LeaveWork,
    Piece,
    Remove,
    Screen,
    TakeBack,
    Timer,
    Window,
    WorkListRow,
    WorkPage,
)
from worksample.errors import RecordMissing, UsageError
from worksample.people import Account
from worksample.records import Instance, Slot, unquote_path

router = APIRouter(prefix="/api/v1", tags=["places"])
SlotId = Annotated[str, Path(max_length=100, pattern=r"^[0-9a-f]+$")]
LISTENS = 5.0
"""Seconds that a request for the terminal's screen waits for output: less than a server takes to stop."""
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}
_HERE = error_responses(400, 401, 403, 404, 409, 503)


@router.get("/places", name="places", responses=error_responses(401, 403))
def list_work(services: ServicesOf, account: Worker) -> list[WorkListRow]:
    """List the work that this person has or may take."""
    return work_rows(services, account)


@router.get("/places/{slot}", name="place", responses=_HERE)
def show_work(slot: SlotId, services: ServicesOf, account: Worker) -> WorkPage:
    """Return the work page of one of this person's slots."""
    return work_page(services, account, slot)


@router.post("/places/{slot}/take", name="take_place", responses=_HERE)
async def take_work(slot: SlotId, services: ServicesOf, account: Worker) -> WorkPage:
    """Take the work. The timer does not start yet."""
    who = await run_in_threadpool(person_at_work, services, account, slot)
    await services.workstations.take(slot, who)
    return await run_in_threadpool(work_page, services, account, slot)


async def _timer(services: AppServices, account: Account, slot: str) -> Timer:
    return await run_in_threadpool(timer_of, services, account, slot)


@router.post("/places/{slot}/start", responses=_HERE)
async def start_timer(slot: SlotId, services: ServicesOf, account: Worker) -> Timer:
    """Start the timer and resume the box."""
    await services.workstations.start(slot, await run_in_threadpool(person_at_work, services, account, slot))
    return await _timer(services, account, slot)


@router.post("/places/{slot}/pause", responses=_HERE)
async def pause_timer(slot: SlotId, services: ServicesOf, account: Worker) -> Timer:
    """Stop the timer and freeze the box."""
    await services.workstations.pause(slot, await run_in_threadpool(person_at_work, services, account, slot))
    return await _timer(services, account, slot)


@router.post("/places/{slot}/heartbeat", responses=_HERE)
async def beat_timer(slot: SlotId, services: ServicesOf, account: Worker) -> Timer:
    """Send a heartbeat. Without one the timer is paused after two minutes."""
    await services.workstations.beat(slot, await run_in_threadpool(person_at_work, services, account, slot))
    return await _timer(services, account, slot)


@router.post("/places/{slot}/leave", name="leave_place", status_code=204, responses=_HERE)
async def leave_work(slot: SlotId, body: LeaveWork, services: ServicesOf, account: Worker) -> Response:
    """Give the work back. Somebody else may do the task from its beginning."""
    await services.workstations.leave(
        slot, await run_in_threadpool(person_at_work, services, account, slot), body.reason
    )
    return Response(status_code=204)


@router.post("/places/{slot}/take-back", name="take_back_place", status_code=204, responses=_HERE)
async def take_back_work(slot: SlotId, body: TakeBack, services: ServicesOf, account: Admin) -> Response:
    """Take work back from a person before the time is up. The person's output so far stays on record."""
    await services.workstations.take_back(slot, account.name, body.reason)
    return Response(status_code=204)


@router.post("/places/{slot}/ask", responses=_HERE)
async def ask_agent(slot: SlotId, body: Ask, services: ServicesOf, account: Worker) -> Timer:
    """Ask the agent to continue with the current files; the next run executes its turn."""
    await services.workstations.ask(slot, await run_in_threadpool(person_at_work, services, account, slot), body.words)
    return await _timer(services, account, slot)


@router.post("/places/{slot}/submit", name="hand_in_place", responses=_HERE)
async def hand_in_work(slot: SlotId, body: HandIn, services: ServicesOf, account: Worker) -> HandInReceipt:
    """Hand in the output folder. Idempotent."""
    who = await run_in_threadpool(person_at_work, services, account, slot)
    trial = await services.workstations.hand_in(slot, who, empty=body.empty)
    return await run_in_threadpool(hand_in_receipt, services, trial)


# -- the terminal


@router.get("/places/{slot}/screen", responses=_HERE)
async def screen(
    slot: SlotId, services: ServicesOf, account: Worker, after: Annotated[int, Query(ge=0)] = 0,
    wait: Annotated[float, Query(ge=0, le=LISTENS)] = LISTENS,
) -> Screen:  # fmt: skip
    """Wait for output of the terminal after this many bytes. `ended` is true if the timer does not run."""
    who = await run_in_threadpool(person_at_work, services, account, slot)
    terminal = await services.workstations.terminal_if_running(slot, who)
    if terminal is None:
        return Screen(data="", at=0, ended=True)
    return Screen.model_validate(await terminal.screen(after, wait))


@router.post("/places/{slot}/keys", status_code=204, responses=_HERE)
async def type_keys(slot: SlotId, body: Keys, services: ServicesOf, account: Worker) -> Response:
    """Type into the terminal."""
    terminal = await services.workstations.shell(slot, await run_in_threadpool(person_at_work, services, account, slot))
    await terminal.keys(body.text.encode("utf-8", "replace"))
    return Response(status_code=204)


@router.post("/places/{slot}/window", status_code=204, responses=_HERE)
async def size_window(slot: SlotId, body: Window, services: ServicesOf, account: Worker) -> Response:
    """Set the size of the terminal's window."""
    terminal = await services.workstations.shell(slot, await run_in_threadpool(person_at_work, services, account, slot))
    await terminal.size(body.rows, body.columns)
    return Response(status_code=204)


# -- files


@router.get("/places/{slot}/files", name="place_files", responses=_HERE)
async def list_output(slot: SlotId, services: ServicesOf, account: Worker) -> FolderListing:
    """List the output folder."""
    who = await run_in_threadpool(person_at_work, services, account, slot)
    return folder_listing(await services.workstations.files(slot, who))


@router.post("/places/{slot}/files", responses=_HERE)
async def upload_piece(slot: SlotId, body: Piece, services: ServicesOf, account: Worker) -> FolderListing:
    """Upload a piece of a file to the output folder; the last piece completes the file."""
    try:
        piece = base64.b64decode(body.data, validate=True)
    except binascii.Error:
        raise UsageError("a piece of the uploaded file is not base64", next="upload the file again") from None
    who = await run_in_threadpool(person_at_work, services, account, slot)
    done = await services.workstations.upload(slot, who, body.path, body.offset, piece, last=body.last)
    return folder_listing(await services.workstations.files(slot, who)) if done else FolderListing(files=())


@router.post("/places/{slot}/remove", responses=_HERE)
async def remove_file(slot: SlotId, body: Remove, services: ServicesOf, account: Worker) -> FolderListing:
    """Remove a file or folder of the output folder."""
    who = await run_in_threadpool(person_at_work, services, account, slot)
    await services.workstations.remove(slot, who, body.path)
    return folder_listing(await services.workstations.files(slot, who))


@router.get("/places/{slot}/output", response_class=Response, responses={**_FILE, **_HERE})
async def download_output(
    slot: SlotId, services: ServicesOf, account: Worker, path: Annotated[str, Query(min_length=1, max_length=4000)]
) -> Response:
    """Download a file of the output folder."""
    who = await run_in_threadpool(person_at_work, services, account, slot)
    return _attachment(path, await services.workstations.download(slot, who, path))


@router.get("/places/{slot}/input", response_class=Response, responses={**_FILE, **_HERE})
def download_input(
    slot: SlotId, services: ServicesOf, account: Worker, path: Annotated[str, Query(min_length=1, max_length=4000)]
) -> Response:
    """Download a file of the inputs."""
    work_page(services, account, slot)
    instance = services.store.get(Instance, services.store.get(Slot, slot).instance)
    entry = services.store.manifest(instance.work.inputs).find(path)
    if entry is None or entry.blob is None:
        raise RecordMissing("no such file", where=path, next="choose one of the list of files")
    return _attachment(path, services.store.blobs.read(entry.blob))


def _attachment(path: str, data: bytes) -> Response:
    """Build a response that a browser saves and never shows, because anybody may have made the file."""
    name = unquote_path(path).rsplit(b"/", 1)[-1]
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return Response(data, media_type="application/octet-stream", headers=headers)
