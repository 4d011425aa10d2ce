"""Estimates of token counts for text that no service counted: a likely number, and an upper bound."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput
    from inspect_ai.tool import ToolInfo
    from pydantic import BaseModel

BYTES_PER_TOKEN = 3.5
"""Typical bytes of UTF-8 per token, in text that people and programs write."""
FRAME = 8
"""Tokens that mark the beginning and end of a message or a tool."""
HIDDEN = 1_000
"""Tokens of instructions that a service may add to a request with tools."""
PICTURE = 5_000
"""Minimum tokens of a picture, recording or document in the upper bound."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a request or an answer, from which tokens are estimated."""

    bytes: int = 0
    """Bytes of text, as UTF-8."""
    frames: int = 0
    """Number of messages and tools."""
    media: int = 0
    """Number of pictures, recordings and documents."""
    media_tokens: int = 0
    """Tokens of pictures, recordings and documents by the engine's estimate."""

    @property
    def tokens(self) -> int:
        """Return a likely number of tokens."""
        return math.ceil(self.bytes / BYTES_PER_TOKEN) + FRAME * self.frames + self.media_tokens

    @property
    def tokens_at_most(self) -> int:
        """Return an upper bound: no vocabulary has a token shorter than a byte."""
        media = max(2 * self.media_tokens, PICTURE * self.media)
        return self.bytes + FRAME * self.frames + media + (HIDDEN if self.frames else 0)


def size_of_request(messages: Sequence[ChatMessage], tools: Iterable[ToolInfo] = ()) -> Size:
    """Return the size of a conversation, with the tools that it may call."""
    total, frames = 0, 0
    found: list[Any] = []
    for message in messages:
        frames += 1
        total += _text(message.content, found) + _calls(getattr(message, "tool_calls", None))
    for tool in tools:
        frames += 1
        total += _json_bytes(tool)
    return Size(total, frames, len(found), sum(_media_tokens(one) for one in found))


def size_of_answer(output: ModelOutput) -> Size:
    """Return the size of an answer, reasoning and tool calls included."""
    total = sum(
        _text(choice.message.content, []) + _calls(choice.message.tool_calls) for choice in output.choices
    )  # fmt: skip
    return Size(total)


def _bytes(text: str | None) -> int:
    return len((text or "").encode("utf-8", "surrogatepass"))


def _text(content: str | Sequence[Any], media: list[Any]) -> int:
    """Return the bytes of text in a message's content; append other parts to `media`."""
    from inspect_ai.model import (
        ContentAudio,
        ContentDocument,
        ContentImage,
        ContentReasoning,
        ContentText,
        ContentVideo,
    )

    if isinstance(content, str):
        return _bytes(content)
    total, parts = 0, cast("Sequence[Any]", content)
    for part in parts:
        if isinstance(part, ContentText):
            total += _bytes(part.text)
        elif isinstance(part, ContentReasoning):
            total += max(_bytes(part.reasoning), _bytes(part.summary))
        elif isinstance(part, ContentImage | ContentAudio | ContentVideo | ContentDocument):
            media.append(part)
        else:
            total += _json_bytes(part)
    return total


def _json_bytes(model: BaseModel) -> int:
    """Return the bytes of a model as JSON; 0 if it is nested too deeply to be sent."""
    try:
        return len(model.model_dump_json(exclude_none=True))
    except ValueError:  # lone surrogates, which a provider may send as escapes
        try:
            return _bytes(_json(model.model_dump(exclude_none=True)))
        except (ValueError, RecursionError):
            return 0


def _calls(calls: Sequence[Any] | None) -> int:
    return sum(_bytes(one.function) + _bytes(_json(one.arguments)) for one in calls or ())


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # a model may nest arguments more deeply than Python can follow
        return ""


def _media_tokens(media: Any) -> int:
    from inspect_ai.model._tokens import count_media_tokens

    return count_media_tokens(media)
