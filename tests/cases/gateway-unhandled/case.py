"""A choice of tools that is a list, a tunnel and another protocol, again and again: each has its answer."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

from models.wire import listening, mock_gateway, request, send, status

PLAIN = {"model": "m", "messages": [{"role": "user", "content": "x"}]}


def check(room: Path, fixtures: pytest.FixtureRequest) -> None:
    """Nothing is raised out of the gateway, nothing is logged, and the program is told what was wrong."""
    caplog: pytest.LogCaptureFixture = fixtures.getfixturevalue("caplog")
    odd = json.dumps({**PLAIN, "tool_choice": [1]}).encode()
    huge = json.dumps({**PLAIN, "temperature": 0}).replace('": 0', '": 1e400').encode()
    unhashable = json.dumps({"model": "m", "input": "hi", "tool_choice": [1]}).encode()
    asked = [
        (request("/v1/chat/completions", odd), (200, 400)),
        (request("/v1/responses", unhashable), (200, 400)),
        (request("/v1/chat/completions", huge), (200, 400)),
        (b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", (405,)),
        (b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nabc", (200,)),
        (request("/v1/chat/completions", json.dumps(PLAIN).encode(), Connection="Upgrade", Upgrade="h2c"), (200,)),
    ]

    async def work() -> None:
        gateway = mock_gateway()
        async with listening(gateway.http) as (port, raised):
            for _ in range(20):
                for sent, codes in asked:
                    assert status(await send(port, sent)) in codes
        assert raised == []

    with caplog.at_level(logging.WARNING):
        asyncio.run(work())
    assert [record.getMessage() for record in caplog.records if "answered" in record.getMessage()] == []
