"""Formatting of server-sent events, and the values that all dialects report about an answer."""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.model import ContentReasoning, ModelOutput


def format_event(data: Any, name: str | None = None) -> bytes:
    """Return one server-sent event as bytes. `data` is written as JSON; `name` is the name of the event."""
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return f"{head}data: {text}\n\n".encode()


def token_counts(output: ModelOutput) -> tuple[int, int, int, int, int]:
    """Return five numbers of tokens: of the whole prompt, of the answer, read from the cache, written to the cache, and
    of reasoning.
    """
    used = output.usage
    if used is None:
        return 0, 0, 0, 0, 0
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    return used.input_tokens + read + written, used.output_tokens, read, written, used.reasoning_tokens or 0


def reasoning_parts(output: ModelOutput) -> list[ContentReasoning]:
    """Return the model's reasoning in an output. The list is empty if the model's service does not reveal reasoning."""
    content = output.message.content
    return [] if isinstance(content, str) else [part for part in content if isinstance(part, ContentReasoning)]
