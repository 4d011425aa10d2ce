"""A server of the Model Context Protocol (MCP) that offers the platform's tools, such as the browser or the desktop, to
programs in the agent's box.

The server answers each request at once with JSON. This is the smallest HTTP transport that MCP clients accept from a
server without streams. The server is part of the platform, outside the box, so no program in the box can change an
answer.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from worksample.errors import ForeignInputError, SandboxError
from worksample.files.untrusted import JsonLimits, read_json
from worksample.models.gateway.http_server import HttpLimits, HttpRequest, HttpResponse, HttpServer, as_json

from .tool_actions import ToolAction

LIMITS = HttpLimits(body_bytes=1 << 20, held_bytes=32 << 20)
SHAPE = JsonLimits(size=1 << 20, values=2000)
"""Limits of the JSON in a request. The arguments of an action are small, so reading them takes milliseconds."""
VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
NOT_JSON, NO_REQUEST, NO_METHOD, WRONG = -32700, -32600, -32601, -32602


class ToolResult(Protocol):
    """The result of an action: a text, a picture or b"", and why the action was not carried out, or ""."""

    @property
    def text(self) -> str: ...
    @property
    def picture(self) -> bytes: ...
    @property
    def error(self) -> str: ...


Act = Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]]
"""A function that carries out the action of a name with its arguments. It checks the arguments. Raises SandboxError if
the trial cannot go on.
"""


class McpServer:
    """An MCP server with one tool for each action of a table."""

    def __init__(self, name: str, actions: Mapping[str, ToolAction], act: Act) -> None:
        self._name, self._actions, self._act = name, actions, act
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
                "serverInfo": {"name": self._name, "version": "1"},
            }
            return {"jsonrpc": "2.0", "id": id, "result": found}
        if method == "ping":
            return {"jsonrpc": "2.0", "id": id, "result": {}}
        if method == "tools/list":
            return {
                "jsonrpc": "2.0",
                "id": id,
                "result": {"tools": [_tool_description(one) for one in self._actions.values()]},
            }
        if method != "tools/call":
            return _fault(id, NO_METHOD, f"there is no method {method[:100]}")
        name, arguments = given.get("name"), given.get("arguments") or {}
        if not isinstance(name, str) or name not in self._actions or not isinstance(arguments, dict):
            return _fault(id, WRONG, "there is no such tool")
        try:
            return {"jsonrpc": "2.0", "id": id, "result": _tool_result(await self._act(name, arguments))}
        except SandboxError as error:
            return _fault(id, NO_REQUEST, error.what)  # the trial ends with it


def _tool_description(one: ToolAction) -> dict[str, Any]:
    return {"name": one.name, "description": one.about, "inputSchema": one.schema()}


def _tool_result(seen: ToolResult) -> dict[str, Any]:
    text = "\n".join(part for part in (seen.error, seen.text) if part)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if seen.picture:
        content.append(
            {"type": "image", "mimeType": media_type(seen.picture), "data": base64.b64encode(seen.picture).decode()}
        )
    return {"content": content, "isError": bool(seen.error)}


def media_type(picture: bytes) -> str:
    """Return the media type of a picture that the platform made."""
    return "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"


def _unreadable(status: int, message: str, path: str) -> bytes:
    return as_json(_fault(None, NO_REQUEST, message))


def _fault(id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
