"""A server of the Model Context Protocol (MCP) that offers the browser to programs in the agent's box.

The server answers each request at once with JSON. This is the smallest HTTP transport that MCP clients accept from a
server without streams. The server is part of the platform, outside the box, so no program in the box can change an
answer.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from worksample.errors import ForeignInputError, SandboxError
from worksample.files.untrusted import JsonLimits, read_json
from worksample.models.gateway.http_server import HttpLimits, HttpRequest, HttpResponse, HttpServer, as_json

from .actions import ACTIONS, BrowserAction
from .browser import Browser, BrowserObservation

LIMITS = HttpLimits(body_bytes=1 << 20, held_bytes=32 << 20)
SHAPE = JsonLimits(size=1 << 20, values=2000)
"""Limits of the JSON in a request. The arguments of an action are small, so reading them takes milliseconds."""
VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
NOT_JSON, NO_REQUEST, NO_METHOD, WRONG = -32700, -32600, -32601, -32602


class McpServer:
    """The MCP server of one trial's browser."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.http = HttpServer(self._answer, _unreadable, LIMITS)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        await self.http.serve(reader, writer)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            body = as_json(_fault(None, NO_REQUEST, "this server accepts only POST"))
            return HttpResponse(405, body, headers=(("Allow", "POST"),))
        status, body = await self._answer_body(bytes(request.body))
        return HttpResponse(status, body)

    async def _answer_body(self, body: bytes) -> tuple[int, bytes]:
        try:
            asked = read_json(body, SHAPE)
        except ForeignInputError as error:
            return 400, as_json(_fault(None, NOT_JSON, error.what))
        if not isinstance(asked, dict) or not isinstance(asked.get("method"), str):
            return 400, as_json(_fault(None, NO_REQUEST, "the body is not a JSON-RPC request"))
        if "id" not in asked:
            return 202, b""
        given = asked.get("params")
        return 200, as_json(
            await self._answer_method(asked["id"], asked["method"], given if isinstance(given, dict) else {})
        )

    async def _answer_method(self, id: Any, method: str, given: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            version = given.get("protocolVersion")
            found: dict[str, Any] = {
                "protocolVersion": version if version in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "browser", "version": "1"},
            }
            return {"jsonrpc": "2.0", "id": id, "result": found}
        if method == "ping":
            return {"jsonrpc": "2.0", "id": id, "result": {}}
        if method == "tools/list":
            return {
                "jsonrpc": "2.0",
                "id": id,
                "result": {"tools": [_tool_description(one) for one in ACTIONS.values()]},
            }
        if method != "tools/call":
            return _fault(id, NO_METHOD, f"there is no method {method[:100]}")
        name, arguments = given.get("name"), given.get("arguments") or {}
        if not isinstance(name, str) or name not in ACTIONS or not isinstance(arguments, dict):
            return _fault(id, WRONG, "there is no such tool")
        try:
            return {"jsonrpc": "2.0", "id": id, "result": _tool_result(await self.browser.act(name, arguments))}
        except SandboxError as error:
            return _fault(id, NO_REQUEST, error.what)  # the trial ends with it


def _tool_description(one: BrowserAction) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {key: parameter.schema() for key, parameter in one.parameters.items()},
        "required": [key for key, parameter in one.parameters.items() if parameter.needed],
    }
    return {"name": one.name, "description": one.about, "inputSchema": schema}


def _tool_result(seen: BrowserObservation) -> dict[str, Any]:
    text = "\n".join(part for part in (seen.error, seen.text) if part)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if seen.picture:
        content.append({"type": "image", "mimeType": "image/jpeg", "data": base64.b64encode(seen.picture).decode()})
    return {"content": content, "isError": bool(seen.error)}


def _unreadable(status: int, message: str, path: str) -> bytes:
    return as_json(_fault(None, NO_REQUEST, message))


def _fault(id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
