"""HTTP routes of an evaluator: claim an item, look at it, save a draft, submit an answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from worksample.app.judging.responses import history_view, item_view, own_answer_view, queue_views
from worksample.app.judging.schemas import (
    AnswerReceipt,
    Claim,
    DraftView,
    EarlierVote,
    Flag,
    HistoryRow,
    ItemView,
    LeaseReceipt,
    OwnAnswer,
    QueueView,
    Quiz,
    SaveDraft,
    Seen,
    Skip,
    Submit,
)
from worksample.app.server.authentication import ServicesOf, SessionOf, SignedIn
from worksample.app.server.middleware.error_responses import error_responses
from worksample.app.server.single_thread_route import SingleThreadRoute
from worksample.people import raise_flag

router = APIRouter(prefix="/api/v1", tags=["work"], route_class=SingleThreadRoute)
ItemId = Annotated[str, Path(max_length=100)]


@router.get("/queues", responses=error_responses(401))
def queues(services: ServicesOf, account: SignedIn) -> list[QueueView]:
    """List the queues of this person's roles."""
    return queue_views(services, account)


@router.post(
    "/claims", response_model=ItemView,
    responses={204: {"description": "Nothing is left."}, **error_responses(400, 401, 403, 425)},
)  # fmt: skip
def claim(body: Claim, services: ServicesOf, account: SignedIn, session: SessionOf) -> ItemView | Response:
    """Return the item that the person has open, else claim the next one."""
    item = services.people.drafting.claim(account, body.round, ahead=body.ahead)
    return Response(status_code=204) if item is None else item_view(services, session, account, item)


@router.get("/items/{id}", responses=error_responses(401, 404))
def item(id: ItemId, services: ServicesOf, account: SignedIn, session: SessionOf) -> ItemView:
    """Return one of the person's own items."""
    return item_view(services, session, account, services.people.drafting.item(account, id))


@router.post("/items/{id}/heartbeat", responses=error_responses(401, 403, 404, 409))
def heartbeat(id: ItemId, services: ServicesOf, account: SignedIn) -> LeaseReceipt:
    """Renew the person's lease on an item."""
    return LeaseReceipt(expires=services.people.leasing.heartbeat(id, account))


@router.post("/items/{id}/release", status_code=204, responses=error_responses(401, 403, 404))
def release(id: ItemId, services: ServicesOf, account: SignedIn) -> None:
    """Give an item back to its queue."""
    services.people.leasing.release(id, account)


@router.put("/items/{id}/draft", responses=error_responses(400, 401, 403, 404, 409, 413))
def save_draft(id: ItemId, body: SaveDraft, services: ServicesOf, account: SignedIn) -> DraftView:
    """Save a draft of the answer."""
    kept = services.people.drafting.save(id, account, body.revision, body.payload, body.active_seconds)
    return DraftView(
        revision=kept.revision, payload=dict(kept.payload), saved=kept.saved, active_seconds=kept.active_seconds
    )


@router.post("/items/{id}/seen", status_code=204, responses=error_responses(400, 401, 403, 404))
def mark_seen(id: ItemId, body: Seen, services: ServicesOf, account: SignedIn) -> None:
    """Record that the person opened a file."""
    services.people.drafting.mark_seen(id, account, body.pane, body.path)


@router.post("/items/{id}/submit", responses=error_responses(400, 401, 403, 404, 409, 413, 422))
def submit(id: ItemId, body: Submit, services: ServicesOf, account: SignedIn) -> AnswerReceipt:
    """Submit an answer."""
    return AnswerReceipt(
        evaluation=services.people.judging.submit(id, account, body.payload, body.key, body.active_seconds).id
    )


@router.post("/items/{id}/skip", responses=error_responses(400, 401, 403, 404, 409, 422))
def skip(id: ItemId, body: Skip, services: ServicesOf, account: SignedIn) -> AnswerReceipt:
    """Skip an item, with a reason, and leave it to others."""
    return AnswerReceipt(evaluation=services.people.judging.skip(id, account, body.reason).id)


@router.post("/items/{id}/take-back", status_code=204, responses=error_responses(401, 403, 404, 409, 425))
def take_back(id: ItemId, services: ServicesOf, account: SignedIn) -> None:
    """Reopen a skipped item, if nobody else has taken it."""
    services.people.leasing.take_back(id, account)


@router.get("/items/{id}/answer", responses=error_responses(401, 404, 409))
def own_answer(id: ItemId, services: ServicesOf, account: SignedIn) -> OwnAnswer:
    """Return the person's answer to an item, or the reason for skipping it."""
    return own_answer_view(services.people.judging.own_answer(id, account))


@router.post("/items/{id}/flag", status_code=204, responses=error_responses(400, 401, 403, 404))
def flag(id: ItemId, body: Flag, services: ServicesOf, account: SignedIn) -> None:
    """Report a problem with an item to the admins."""
    raise_flag(services.store, id, account, body.kind, body.text, clock=services.people.clock)


@router.get("/items/{id}/earlier", responses=error_responses(401, 404, 409))
def earlier(id: ItemId, services: ServicesOf, account: SignedIn) -> list[EarlierVote]:
    """Return earlier votes of others on the item, after the person's own answer is in."""
    return [EarlierVote(**said) for said in services.people.judging.earlier_votes(id, account)]


@router.get("/items/{id}/quiz", responses=error_responses(401, 404, 409))
def quiz_answer(id: ItemId, services: ServicesOf, account: SignedIn) -> Quiz:
    """Return the right answer of a calibration item that the person has answered."""
    return Quiz(**services.people.judging.quiz_answer(id, account))


@router.get("/history", responses=error_responses(401))
def history(services: ServicesOf, account: SignedIn) -> list[HistoryRow]:
    """List the person's own items, the latest first."""
    return history_view(services, account)


@router.get("/flag-kinds", responses=error_responses(401))
def flag_kinds(account: SignedIn) -> list[str]:
    """List the kinds of problems that can be reported."""
    from worksample.people import FLAGS

    return list(FLAGS)
