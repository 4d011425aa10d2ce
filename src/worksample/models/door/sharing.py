"""What a trial's requests have in common is held once: a conversation is sent whole again with each of its turns.

Every call stays in the trial's transcript until its end, so that what is new in each is counted for the trial.
"""

from __future__ import annotations

from inspect_ai.model import ChatMessage, GenerateConfig
from inspect_ai.tool import ToolInfo

from .asked import ModelRequest
from .refusal import Refusal

MOST = 256 << 20
"""Bytes of one trial's messages, tools and settings, each counted once."""


class Sharing:
    """Of one door."""

    def __init__(self, most: int = MOST) -> None:
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
