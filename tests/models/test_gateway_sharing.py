"""Content shared by a trial's requests is stored once, and new content is bounded."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from models.wire import PATHS, listening, mock_gateway, request, send, status
from worksample.models.gateway.conversation_memory import MessageStore

TOOLS = [{"type": "function", "function": {"name": "f", "description": "d" * 1000, "parameters": {"type": "object"}}}]


def turns(count: int, **more: Any) -> bytes:
    """A conversation of so many turns of ten kilobytes."""
    messages = [{"role": "user", "content": f"{n} " + "x" * 10_000} for n in range(count)]
    return request(PATHS[0], json.dumps({"model": "m", "messages": messages, "tools": TOOLS, **more}).encode())


async def test_growing_conversation_is_stored_once() -> None:
    gateway = mock_gateway()
    async with listening(gateway.http) as (port, _):
        held = []
        for count in range(1, 9):
            assert status(await send(port, turns(count))) == 200
            held.append(gateway._sharing.held)
        steps = {round((after - before) / 1000) for before, after in pairwise(held)}
        assert steps == {10}
        assert status(await send(port, turns(8))) == 200
        assert gateway._sharing.held == held[-1]
        assert status(await send(port, turns(8, stop="s" * 20_000))) == 200
        assert gateway._sharing.held > held[-1] + 20_000


async def test_trial_with_endless_new_conversations_is_refused() -> None:
    gateway = mock_gateway()
    gateway._sharing = MessageStore(most=100_000)
    async with listening(gateway.http) as (port, raised):
        answers = [status(await send(port, turns(count))) for count in (5, 9, 12, 9)]
        assert answers == [200, 200, 413, 200]
        other = request(
            PATHS[0], json.dumps({"model": "gpt", "messages": [{"role": "user", "content": "y" * 900_000}]}).encode()
        )
        assert status(await send(port, other)) == 404
    assert (raised, gateway.failure.error) == ([], None)
