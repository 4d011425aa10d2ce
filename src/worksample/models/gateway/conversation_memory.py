"""Memory of the gateway during one trial: the model's answers, messages received so far, and ignored settings.

The dialects cannot transport all reasoning and provider-specific data of an answer, so the gateway restores answers
from its memory. Programs send the whole conversation with each request, so equal messages are stored only once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig
from inspect_ai.tool import ToolInfo
from pydantic import JsonValue

from .request import ModelRequest
from .request_error import Refusal


class AnswerMemory:
    """Memory of a model's answers.

    An answer is restored only if a program sends it back unchanged: the same text and the same tool calls with id, name
    and arguments. Otherwise the model receives what the program sent, because servers reuse ids and programs edit their
    history.
    """

    def __init__(self) -> None:
        self._answers: dict[str, dict[str, ChatMessageAssistant]] = {}
        """Answers, by their whole content and then by the id of the message before them."""

    def keep(self, messages: list[ChatMessage], answer: ChatMessageAssistant) -> None:
        """Store the model's answer to a conversation. The id of the last message identifies the whole conversation."""
        self._answers.setdefault(_whole(answer), {})[_last(messages)] = answer

    def restore(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """Return the conversation with the model's original answers in place of the copies that the program sent.

        If the model gave equal answers several times, the answer after the same messages is used. If no answer was
        given after these messages, the program's copy stays.
        """
        out: list[ChatMessage] = []
        for place, message in enumerate(messages):
            known = self._answers.get(_whole(message)) if isinstance(message, ChatMessageAssistant) else None
            if known:
                only = next(iter(known.values())) if len(known) == 1 else message
                message = known.get(_last(messages[:place]), only)
            out.append(message)
        return out


def _last(messages: list[ChatMessage]) -> str:
    return messages[-1].id or "" if messages else ""


def _whole(message: ChatMessageAssistant) -> str:
    calls = [(call.id, call.function, call.arguments) for call in message.tool_calls or ()]
    return json.dumps([message.text.strip(), calls], sort_keys=True)


MOST_NOTES = 200
"""Maximum number of ignored settings that are recorded for one trial."""
LONGEST_NOTE = 100


def note_settings(names: Iterable[str], noted: set[str]) -> None:
    """Record the names of ignored settings in the sample's transcript, unless they are in `noted`, and add them to
    `noted`.
    """
    from inspect_ai.log import transcript

    new: list[JsonValue] = []
    new += sorted({name[:LONGEST_NOTE] for name in names} - noted)[: MOST_NOTES - len(noted)]
    if new:
        noted.update(map(str, new))
        transcript().info({"not passed on to the model": new}, source="door")


MOST_BYTES = 256 << 20
"""Maximum size in bytes of the messages, tools and settings of one trial, each different one counted once."""


class MessageStore:
    """The messages, tools and settings of one trial, each different one stored once.

    All calls stay in the trial's transcript until the trial's end. With this store, a call needs memory only for what
    is new in it.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.held = 0
        """Number of bytes of everything that is stored."""
        self._most = most
        self._messages: dict[str | None, ChatMessage] = {}
        self._rest: dict[str, tuple[list[ToolInfo], GenerateConfig]] = {}

    def share(self, asked: ModelRequest) -> None:
        """Replace the messages, tools and settings of a request by equal ones that are already stored. Raises Refusal
        if the trial exceeds the maximum size.
        """
        messages = asked.number_messages()
        fresh = sum(size for one, size in zip(messages, asked.sizes, strict=True) if one.id not in self._messages)
        fresh += asked.rest_size if asked.rest not in self._rest else 0
        if self.held + fresh > self._most:
            raise Refusal(
                413, f"the different messages and tools of this trial have more than {self._most} bytes together"
            )
        self.held += fresh
        asked.messages = [self._messages.setdefault(one.id, one) for one in messages]
        asked.tools, asked.config = self._rest.setdefault(asked.rest, (asked.tools, asked.config))
