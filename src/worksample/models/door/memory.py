"""What a model said, as it said it: with the reasoning and the marks of its provider, which dialects cannot carry."""

from __future__ import annotations

import json

from inspect_ai.model import ChatMessage, ChatMessageAssistant


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
