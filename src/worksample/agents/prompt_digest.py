"""Digest of exactly what an agent saw when it began. The trial records it as `shown`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worksample.records import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import ToolDef

SHOWN = "worksample_shown"
"""Key of the digest in the trial's Inspect store."""


async def record_shown(messages: Sequence[ChatMessage], tools: Sequence[ToolDef]) -> str:
    """Record the digest of the first messages (role and content) and the tools' definitions."""
    definitions = [
        {
            "name": d.name,
            "description": d.description,
            "parameters": d.parameters.model_dump(mode="json", exclude_none=True),
        }
        for d in tools
    ]
    return record_digest({"messages": [_plain(m) for m in messages], "tools": definitions})


def record_digest(value: dict[str, Any]) -> str:
    """Record the digest of what an agent saw, given as JSON types."""
    from inspect_ai.util import store

    digest = digest_of(value)
    store().set(SHOWN, digest)
    return digest


def _plain(message: ChatMessage) -> dict[str, Any]:
    content = message.content
    parts = (
        content if isinstance(content, str) else [part.model_dump(mode="json", exclude_none=True) for part in content]
    )
    return {"role": message.role, "content": parts}
