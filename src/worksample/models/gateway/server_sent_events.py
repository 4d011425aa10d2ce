"""Server-sent events, and what all dialects tell of an answer."""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.model import ContentReasoning, ModelOutput


def event(data: Any, name: str | None = None) -> bytes:
    """One event."""
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return f"{head}data: {text}\n\n".encode()


def counts(output: ModelOutput) -> tuple[int, int, int, int, int]:
    """Tokens: all of the prompt, answered, read from a cache, written to one, of reasoning."""
    used = output.usage
    if used is None:
        return 0, 0, 0, 0, 0
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    return used.input_tokens + read + written, used.output_tokens, read, written, used.reasoning_tokens or 0


def thoughts(output: ModelOutput) -> list[ContentReasoning]:
    """What the model thought, as far as its service tells."""
    content = output.message.content
    return [] if isinstance(content, str) else [part for part in content if isinstance(part, ContentReasoning)]
