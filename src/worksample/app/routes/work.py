"""An evaluator's work: claim, look, save, hand in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from worksample.app import working
from worksample.app.schemas.work import (
    Beat,
    Claim,
    DraftView,
    Earlier,
    Flag,
    Given,
    ItemView,
    OwnAnswer,
    Past,
    QueueView,
    Quiz,
    SaveDraft,
    Seen,
    Skip,
    Submit,
)
from worksample.app.signed import CallerOf, ServicesOf, SignedIn, answer
from worksample.app.telling.worklist import history_view, own_answer_view, queue_views
from worksample.app.wire.problems import fails

router = APIRouter(prefix="/api/v1", tags=["work"])
ItemId = Annotated[str, Path(max_length=100)]


@router.get("/queues", responses=fails(401))
def queues(services: ServicesOf, account: SignedIn) -> list[QueueView]:
    """The queues of this person's roles."""
    return queue_views(services, account)


@router.post(
    "/claims", response_model=ItemView,
    responses={204: {"description": "Nothing is left."}, **fails(400, 401, 403, 425)},
)  # fmt: skip
def claim(body: Claim, services: ServicesOf, caller: CallerOf) -> Response:
    """The item that the person has open, else the next one."""
    done = working.claim(services, *caller.enter(), body)
    return Response(status_code=204) if done is None else answer(done)


@router.get("/items/{id}", response_model=ItemView, responses=fails(401, 404))
def item(id: ItemId, services: ServicesOf, caller: CallerOf) -> Response:
    """One of the person's own items."""
    return answer(working.item(services, *caller.enter(), id))


@router.post("/items/{id}/heartbeat", response_model=Beat, responses=fails(401, 403, 404, 409))
def heartbeat(id: ItemId, services: ServicesOf, caller: CallerOf) -> Response:
    """Keep it."""
    return answer(working.heartbeat(services, *caller.enter(), id))


@router.post("/items/{id}/release", status_code=204, responses=fails(401, 403, 404))
def release(id: ItemId, services: ServicesOf, account: SignedIn) -> None:
    """Give it back."""
    services.people.release(id, account)


@router.put("/items/{id}/draft", response_model=DraftView, responses=fails(400, 401, 403, 404, 409, 413))
def save_draft(id: ItemId, body: SaveDraft, services: ServicesOf, caller: CallerOf) -> Response:
    """Keep what was written so far."""
    return answer(working.save_draft(services, *caller.enter(), id, body))


@router.post("/items/{id}/seen", status_code=204, responses=fails(400, 401, 403, 404))
def mark_seen(id: ItemId, body: Seen, services: ServicesOf, account: SignedIn) -> None:
    """Note that a file was opened."""
    services.people.mark_seen(id, account, body.pane, body.path)


@router.post("/items/{id}/submit", response_model=Given, responses=fails(400, 401, 403, 404, 409, 413, 422))
def submit(id: ItemId, body: Submit, services: ServicesOf, caller: CallerOf) -> Response:
    """Hand in an answer."""
    return answer(working.submit(services, *caller.enter(), id, body))


@router.post("/items/{id}/skip", responses=fails(400, 401, 403, 404, 409, 422))
def skip(id: ItemId, body: Skip, services: ServicesOf, account: SignedIn) -> Given:
    """Leave it to others."""
    return Given(evaluation=services.people.skip(id, account, body.reason).id)


@router.post("/items/{id}/take-back", status_code=204, responses=fails(401, 403, 404, 409, 425))
def take_back(id: ItemId, services: ServicesOf, account: SignedIn) -> None:
    """Have a skipped item again, as long as nobody else has taken it."""
    services.people.take_back(id, account)


@router.get("/items/{id}/answer", responses=fails(401, 404, 409))
def own_answer(id: ItemId, services: ServicesOf, account: SignedIn) -> OwnAnswer:
    """What the person said of an item, or why it was skipped."""
    return own_answer_view(services.people.answered(id, account))


@router.post("/items/{id}/flag", status_code=204, responses=fails(400, 401, 403, 404))
def flag(id: ItemId, body: Flag, services: ServicesOf, account: SignedIn) -> None:
    """Tell the admin that something is wrong with it."""
    services.people.flag(id, account, body.kind, body.text)


@router.get("/items/{id}/earlier", responses=fails(401, 404, 409))
def earlier(id: ItemId, services: ServicesOf, account: SignedIn) -> list[Earlier]:
    """What others said before, once the own answer is in."""
    return [Earlier(**said) for said in services.people.earlier(id, account)]


@router.get("/items/{id}/quiz", responses=fails(401, 404, 409))
def quiz_answer(id: ItemId, services: ServicesOf, account: SignedIn) -> Quiz:
    """How an answered calibration item should have been judged."""
    return Quiz(**services.people.quiz_answer(id, account))


@router.get("/history", responses=fails(401))
def history(services: ServicesOf, account: SignedIn) -> list[Past]:
    """The person's own items, the latest first."""
    return history_view(services, account)


@router.get("/flag-kinds", responses=fails(401))
def flag_kinds(account: SignedIn) -> list[str]:
    """What a flag may say."""
    from worksample.people import FLAGS

    return list(FLAGS)
