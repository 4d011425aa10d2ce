"""Digest of exactly what an agent saw at its start. The trial's record has it as `shown`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worksample.records import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import ToolDef

SHOWN = "worksample_shown"
"""Key under which Inspect's store of a trial holds the digest."""


async def record_shown(messages: Sequence[ChatMessage], tools: Sequence[ToolDef]) -> str:
    """Record the digest of the first messages (roles and contents) and of the tools' definitions, and return it."""
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
    """Record the digest of what an agent saw, which is given as JSON types, and return it."""
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
