"""Responses about the signed-in person."""

from __future__ import annotations

from worksample import __version__
from worksample.app.accounts.schemas import AccountShown, Hosts, Me, ProfileShown, TrainingState
from worksample.app.server.middleware.cookies import csrf_of
from worksample.app.server.route_services import AppServices
from worksample.people import Account


def me_of(services: AppServices, account: Account, token: str, *, show_token: bool = False) -> Me:
    """Describe the signed-in person. `token`: the session's token; the response contains it only with `show_token`."""
    people, config = services.people, services.config
    return Me(
        account=AccountShown(
            id=account.id, name=account.name, roles=tuple(sorted(account.roles)), domains=account.domains
        ),
        profile=ProfileShown(**people.accounts.profile(account).model_dump()),
        csrf=csrf_of(token),
        hosts=Hosts(viewer=config.viewer_origin, content=config.content_origins),
        training=training_state(services, account),
        version=__version__,
        token=token if show_token else None,
    )


def training_state(services: AppServices, account: Account) -> TrainingState:
    """Tell which version of the instructions is in force and whether the person has read it."""
    people = services.people
    return TrainingState(digest=people.instructions.digest, read=people.has_read_training(account))
