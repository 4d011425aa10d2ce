"""What a browser is told of the person who is signed in."""

from __future__ import annotations

from worksample import __version__
from worksample.app.accounts.schemas import AccountShown, Hosts, Me, ProfileShown, TrainingState
from worksample.app.server.middleware.cookies import csrf_of
from worksample.app.server.services import AppServices
from worksample.people import Account


def me_of(services: AppServices, account: Account, token: str, *, show_token: bool = False) -> Me:
    """`token`: the session's; it is in the answer only where a script asked for it."""
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
    """Of the instructions in force."""
    people = services.people
    return TrainingState(digest=people.instructions.digest, read=people.has_read_training(account))
