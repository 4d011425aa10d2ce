"""The instructions: what has to be read before judging."""

from __future__ import annotations

from fastapi import APIRouter

from worksample.app.accounts.responses import training_state
from worksample.app.accounts.schemas import TrainingState
from worksample.app.server.authentication import ServicesOf, SignedIn
from worksample.app.server.json_models import ResponseBody
from worksample.app.server.markdown import render, title_of
from worksample.app.server.middleware.error_responses import error_responses
from worksample.people.rounds.instructions import PAGES

router = APIRouter(prefix="/api/v1/training", tags=["training"])


class Page(ResponseBody):
    """`html` is made from `markdown` without raw HTML in it."""

    name: str
    title: str
    markdown: str
    html: str


class Training(TrainingState):
    pages: tuple[Page, ...]


@router.get("", responses=error_responses(401))
def training(services: ServicesOf, account: SignedIn) -> Training:
    """All pages of the version in force."""
    texts = services.people.instructions.pages
    pages = tuple(
        Page(name=name, title=title_of(texts[name], name), markdown=texts[name], html=render(texts[name]))
        for name in PAGES
        if name in texts
    )
    state = training_state(services, account)
    return Training(digest=state.digest, read=state.read, pages=pages)


@router.post("/read", status_code=204, responses=error_responses(401, 403))
def read_training(services: ServicesOf, account: SignedIn) -> None:
    """Note that this person has read it."""
    if not services.people.has_read_training(account):
        services.people.read_training(account)
