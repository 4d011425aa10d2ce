"""What a model said, as it said it: with the reasoning and the marks of its provider, which dialects cannot carry."""

from __future__ import annotations

import json
from collections.abc import Iterable

from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig
from inspect_ai.tool import ToolInfo
from pydantic import JsonValue

from .refusal import Refusal
from .request import ModelRequest


class Memory:
    """A model's answers. An answer is put back only where a program sends all of it: its text and every call, with id,
    name and arguments. Servers repeat ids, and programs edit their history; what they send is what the model sees."""

    def __init__(self) -> None:
        self._answers: dict[str, dict[str, ChatMessageAssistant]] = {}
        """By all of an answer, then by the message before it."""

    def keep(self, messages: list[ChatMessage], answer: ChatMessageAssistant) -> None:
        """Remember the answer to a conversation, whose messages have ids that follow from all before them."""
        self._answers.setdefault(_whole(answer), {})[_last(messages)] = answer

    def restored(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """A conversation with the model's own messages. Where the same words came twice, those at the same place;
        where no place is the same and several were said, as the program sent it."""
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
"""Settings that are noted for one trial."""
LONGEST_NOTE = 100


def note_settings(names: Iterable[str], noted: set[str]) -> None:
    """Note in the sample's transcript what was not noted before; `noted` grows."""
    from inspect_ai.log import transcript

    new: list[JsonValue] = []
    new += sorted({name[:LONGEST_NOTE] for name in names} - noted)[: MOST_NOTES - len(noted)]
    if new:
        noted.update(map(str, new))
        transcript().info({"not passed on to the model": new}, source="door")


MOST_BYTES = 256 << 20
"""Bytes of one trial's messages, tools and settings, each counted once."""


class Sharing:
    """Of one gateway."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.held = 0
        """Bytes of all that is held."""
        self._most = most
        self._messages: dict[str | None, ChatMessage] = {}
        self._rest: dict[str, tuple[list[ToolInfo], GenerateConfig]] = {}

    def take(self, asked: ModelRequest) -> None:
        """Put what is known already in the place of what is the same. Refusal where the trial has sent too much."""
        messages = asked.numbered()
        fresh = sum(size for one, size in zip(messages, asked.sizes, strict=True) if one.id not in self._messages)
        fresh += asked.rest_size if asked.rest not in self._rest else 0
        if self.held + fresh > self._most:
            raise Refusal(413, f"this trial has sent more than {self._most} bytes of different messages and tools")
        self.held += fresh
        asked.messages = [self._messages.setdefault(one.id, one) for one in messages]
        asked.tools, asked.config = self._rest.setdefault(asked.rest, (asked.tools, asked.config))
