"""Generation of the next message of a model that plays a person in a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.errors import ColleagueError, PlanError
from worksample.records import Usage

from .model_resolver import ModelService, resolve
from .request_account import ModelAccount

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

CHECK = "worksample model check"
"""Command that an error message recommends after a failed turn."""
SECONDS = 600.0
"""Timeout of one turn in seconds, if the configuration of the service sets no timeout."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of the conversation.

    `own` is True if the person whom the model plays wrote the message. `by` is the author of any other message.
    """

    text: str
    own: bool = False
    by: str = ""


async def generate_turn(
    name: str, service: ModelService, system: str, turns: Sequence[Turn], generation: Mapping[str, Any],
    cut: Callable[[Usage], None] = lambda used: None,
) -> tuple[str, Usage]:  # fmt: skip
    """Return the model's next message and the usage of the call. If the turn is cancelled, call `cut` with the usage.

    Raises ColleagueError, with its `usage`, if the service fails or cannot be used, or if the model refuses or returns
    nothing.
    """
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    messages: list[ChatMessage] = [ChatMessageSystem(content=system)]
    for one in turns:
        said = f"{one.by}: {one.text}" if one.by else one.text
        messages.append(ChatMessageAssistant(content=one.text) if one.own else ChatMessageUser(content=said))
    account = ModelAccount(service.prices)
    try:
        with account.current():
            return await text_of_output(name, service, messages, generation), account.close_total()
    except ColleagueError as error:
        error.usage = account.close_total()
        raise
    except asyncio.CancelledError:
        cut(account.close_total())
        raise


async def text_of_output(
    name: str, service: ModelService, messages: list[ChatMessage], generation: Mapping[str, Any]
) -> str:
    try:
        model = resolve(name, service, generation)
        async with asyncio.timeout(service.timeout or SECONDS):
            output = await model.generate(messages)
    except TimeoutError as error:
        raise ColleagueError("the model gave no answer in time", where=name, next=CHECK) from error
    except PlanError as error:
        raise ColleagueError(error.what, where=name, next=error.next) from error
    except Exception as error:
        # A provider's client may raise any exception.
        raise ColleagueError(f"{type(error).__name__}: {error}"[:500], where=name, next=CHECK) from error
    if not output.choices or not output.completion.strip():
        raise ColleagueError("the model gave an empty answer", where=name, next=CHECK)
    return output.completion
