"""HTTP routes and JSON models of the training page: the instructions that evaluators read before they judge."""

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
    """A page of instructions. `html` is rendered from `markdown`, without raw HTML."""

    name: str
    title: str
    markdown: str
    html: str


class Training(TrainingState):
    pages: tuple[Page, ...]


@router.get("", responses=error_responses(401))
def training(services: ServicesOf, account: SignedIn) -> Training:
    """Return all pages of the instructions in force."""
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
    """Record that this person has read the instructions in force."""
    if not services.people.has_read_training(account):
        services.people.read_training(account)
