"""Estimates of token counts for text that no service has counted: a likely number and an upper bound."""

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
"""Typical number of UTF-8 bytes per token, in text that people and programs write."""
FRAME = 8
"""Number of tokens that mark the beginning and end of a message or a tool."""
HIDDEN = 1_000
"""Number of tokens of the instructions that a service may add to a request with tools."""
PICTURE = 5_000
"""Number of tokens that a picture, recording or document has at least in the upper bound."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a request or an answer. The numbers of tokens are estimated from it."""

    bytes: int = 0
    """Number of bytes of all text, encoded as UTF-8."""
    frames: int = 0
    """Number of messages and tools."""
    media: int = 0
    """Number of pictures, recordings and documents."""
    media_tokens: int = 0
    """Number of tokens of all pictures, recordings and documents, as estimated by Inspect."""

    @property
    def tokens(self) -> int:
        """The likely number of tokens."""
        return math.ceil(self.bytes / BYTES_PER_TOKEN) + FRAME * self.frames + self.media_tokens

    @property
    def tokens_at_most(self) -> int:
        """An upper bound for the number of tokens. It assumes one token per byte of text, because no vocabulary has
        shorter tokens.
        """
        media = max(2 * self.media_tokens, PICTURE * self.media)
        return self.bytes + FRAME * self.frames + media + (HIDDEN if self.frames else 0)


def size_of_request(messages: Sequence[ChatMessage], tools: Iterable[ToolInfo] = ()) -> Size:
    """Return the size of a conversation, including the tools that the model may call."""
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
    """Return the size of an answer, including reasoning and tool calls."""
    total = sum(
        _text(choice.message.content, []) + _calls(choice.message.tool_calls) for choice in output.choices
    )  # fmt: skip
    return Size(total)


def _bytes(text: str | None) -> int:
    return len((text or "").encode("utf-8", "surrogatepass"))


def _text(content: str | Sequence[Any], media: list[Any]) -> int:
    """Return the number of bytes of text in a message's content. Append all parts that are not text to `media`."""
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
    """Return the number of bytes of a pydantic model as JSON. Return 0 if the model is nested too deeply to be sent."""
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
