"""A kilobyte of tool schemas that refer to each other twice, level by level, beside somebody who asks honestly."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from models.wire import busiest, listening, mock_gateway, request, send, status

CHAT = "/v1/chat/completions"


def bomb(levels: int) -> bytes:
    """The request of the case, as its agent makes it."""
    ref = "$ref"
    defs: dict[str, Any] = {f"d{i}": {k: {ref: f"#/x/d{i + 1}"} for k in "ab"} for i in range(levels)}
    defs[f"d{levels}"] = {"type": "string"}
    parameters = {"type": "object", "properties": {"p": {ref: "#/x/d0"}}, "x": defs}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}).encode()


def check(room: Path, fixtures: pytest.FixtureRequest) -> None:
    """Each bomb is refused by its limit, and the neighbour's calls are answered meanwhile."""

    async def work() -> None:
        gateway, neighbour = mock_gateway(), mock_gateway()
        plain = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
        async with listening(gateway.http) as (port, raised), listening(neighbour.http) as (other, _):
            bombs = [asyncio.create_task(send(port, request(CHAT, bomb(levels)))) for levels in (18, 30)]
            for _ in range(4):
                assert status(await send(other, request(CHAT, plain))) == 200
            for answer in await asyncio.gather(*bombs):
                assert status(answer) == 400
                assert b"20000 nodes once every $ref is replaced" in answer
        assert (raised, gateway.failure.error) == ([], None)

    assert busiest(work()) < 0.1
