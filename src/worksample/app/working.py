"""What an evaluator's requests do, once it is known who asks: each answers in JSON, made where it runs."""

from __future__ import annotations

from worksample.app.telling.items import item_json
from worksample.people import Account

from .schemas.work import Beat, Claim, DraftView, Given, SaveDraft, Submit
from .services import Services


def claim(services: Services, account: Account, session: str, body: Claim) -> bytes | None:
    """None where nothing is left."""
    item = services.people.claim(account, body.round, ahead=body.ahead)
    return None if item is None else item_json(services, session, account, item)


def item(services: Services, account: Account, session: str, id: str) -> bytes:
    return item_json(services, session, account, services.people.item(account, id))


def heartbeat(services: Services, account: Account, _: str, id: str) -> bytes:
    return Beat(expires=services.people.heartbeat(id, account)).model_dump_json().encode()


def save_draft(services: Services, account: Account, _: str, id: str, body: SaveDraft) -> bytes:
    kept = services.people.save_draft(id, account, body.revision, body.payload, body.active_seconds)
    view = DraftView(
        revision=kept.revision, payload=dict(kept.payload), saved=kept.saved, active_seconds=kept.active_seconds
    )
    return view.model_dump_json().encode()


def submit(services: Services, account: Account, _: str, id: str, body: Submit) -> bytes:
    given = services.people.submit(id, account, body.payload, body.key, body.active_seconds)
    return Given(evaluation=given.id).model_dump_json().encode()
