"""HTTP routes for flags: problems with items that evaluators reported, and the withdrawal of such items."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from worksample.app.server.authentication import Admin, ServicesOf
from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.app.server.middleware.error_responses import error_responses
from worksample.people.quality import flags as kept_flags
from worksample.people.quality.flags import FlagClosure
from worksample.people.struck_records import withdraw
from worksample.records import Instance

router = APIRouter(prefix="/api/v1", tags=["flags"])
FlagId = Annotated[str, Path(max_length=100, pattern=r"^[0-9a-f]+$")]
ItemId = Annotated[str, Path(max_length=100, pattern=r"^[0-9A-Za-z]+$")]


class FlagClosed(ResponseBody):
    """An admin's answer to a flag. `by`: the admin's name."""

    note: str
    by: str
    at: Micros


class CloseFlag(RequestBody):
    note: str = Field(min_length=1, max_length=5000)


class FlagView(ResponseBody):
    """A reported problem with an item. `withdrawn`: whether the item is out of its queue; `closed` is null until an
    admin answers.
    """

    id: str
    item: str
    round: str
    instance: str
    account: str
    name: str
    kind: str
    text: str
    at: Micros
    withdrawn: bool
    closed: FlagClosed | None


@router.get("/flags", responses=error_responses(401, 403))
def flags(services: ServicesOf, account: Admin) -> list[FlagView]:
    """List all flags, the latest first."""
    names = {a.id: a.name for a in services.people.accounts.all()}
    found = kept_flags.all_flags(services.store)
    titles = {id: services.store.get(Instance, id).key for id in {f.instance for f in found}}
    return [
        FlagView(
            id=f.id, item=f.item, round=f.round, instance=titles[f.instance], account=f.account,
            name=names.get(f.account, ""), kind=f.kind, text=f.text, at=f.at, withdrawn=f.withdrawn,
            closed=None if f.closed is None else _closure_view(f.closed, names),
        )
        for f in found
    ]  # fmt: skip


def _closure_view(closed: FlagClosure, names: dict[str, str]) -> FlagClosed:
    return FlagClosed(note=closed.note, by=names.get(closed.by, ""), at=closed.at)


@router.post("/flags/{id}/close", status_code=204, responses=error_responses(401, 403, 404, 409))
def close_flag(id: FlagId, body: CloseFlag, services: ServicesOf, account: Admin) -> None:
    """Answer a flag with a note; the flag stays on record."""
    kept_flags.close_flag(services.store, account, id, body.note, clock=services.people.clock)


@router.post("/items/{id}/withdraw", status_code=204, responses=error_responses(401, 403))
def withdraw_item(id: ItemId, services: ServicesOf, account: Admin) -> None:
    """Take an item out of its queue. Its evaluations stay."""
    withdraw(services.store, account, id)
