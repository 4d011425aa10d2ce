"""Malformed requests to the browser's MCP server get replies of the protocol."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from models.wire import listening, request, send, status
from worksample.box import Box
from worksample.sandboxes.browser import ACTIONS, Browser
from worksample.sandboxes.tool_server import McpServer

NOBODY = cast(Box, None)


def call(**more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", **more}).encode()


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"[" * 500_000, 400, "128 levels"),
        (b"[" + b"{}," * 300_000 + b"{}]", 400, "2000 values"),
        (b'{"id": NaN, "method": "ping"}', 400, "not JSON"),
        (call(params={"name": ["goto"]}), 200, "no such tool"),
        (call(params={"name": {"a": 1}, "arguments": {}}), 200, "no such tool"),
        (call(method=["ping"]), 400, "not a JSON-RPC request"),
        (call(method="ping"), 200, '"result":{}'),
        (b"x" * ((1 << 20) + 1), 413, "1048576"),
    ],
)
async def test_malformed_requests_get_protocol_errors(body: bytes, code: int, said: str) -> None:
    server = McpServer("browser", ACTIONS, Browser(NOBODY).act)
    async with listening(server.http) as (port, raised):
        answer = await send(port, request("/mcp", body))
        assert status(answer) == code and said in answer.decode()
        assert status(await send(port, b"CONNECT a:1 HTTP/1.1\r\n\r\n")) == 405
        assert status(await send(port, request("/mcp", b"", method="GET"))) == 405
    assert (raised, server.http.held) == ([], 0)
