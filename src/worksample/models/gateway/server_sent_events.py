"""Server-sent events, and values that all dialects report about an answer."""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.model import ContentReasoning, ModelOutput


def format_event(data: Any, name: str | None = None) -> bytes:
    """Return the bytes of one event."""
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return f"{head}data: {text}\n\n".encode()


def token_counts(output: ModelOutput) -> tuple[int, int, int, int, int]:
    """Return the tokens of the whole prompt, the answer, cache reads, cache writes, and reasoning."""
    used = output.usage
    if used is None:
        return 0, 0, 0, 0, 0
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    return used.input_tokens + read + written, used.output_tokens, read, written, used.reasoning_tokens or 0


def reasoning_parts(output: ModelOutput) -> list[ContentReasoning]:
    """Return the model's reasoning, if its service reveals it."""
    content = output.message.content
    return [] if isinstance(content, str) else [part for part in content if isinstance(part, ContentReasoning)]
