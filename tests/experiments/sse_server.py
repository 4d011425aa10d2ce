"""Run as a program: a server of tools that speaks the protocol over server-sent events, with nothing but the library.

python sse_server.py PORT STATE
"""

from __future__ import annotations

import json
import queue
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOL = {
    "name": "keep",
    "description": "Keeps a note at the desk.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
SESSIONS: dict[str, queue.Queue[dict[str, Any]]] = {}


def answered(asked: dict[str, Any]) -> dict[str, Any] | None:
    """What a request is answered with; None for what is no request."""
    if "id" not in asked:
        return None
    result: dict[str, Any] = {}
    if asked["method"] == "initialize":
        result = {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "desk", "version": "1"},
        }
    elif asked["method"] == "tools/list":
        result = {"tools": [TOOL]}
    elif asked["method"] == "tools/call":
        text = asked["params"]["arguments"]["text"]
        (Path(sys.argv[2]) / "note").write_text(text)
        result = {"content": [{"type": "text", "text": f"kept {text}"}]}
    elif asked["method"] != "ping":
        return {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no such method"}}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


class Handler(BaseHTTPRequestHandler):
    """A session is a stream of events; what is posted with its name is answered there."""

    def do_GET(self) -> None:
        """The stream."""
        if self.path != "/sse":
            self.send_error(404)
            return
        name, told = uuid.uuid4().hex, queue.Queue[dict[str, Any]]()
        SESSIONS[name] = told
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        self._event("endpoint", f"/messages?session={name}")
        while True:
            self._event("message", json.dumps(told.get()))

    def _event(self, kind: str, data: str) -> None:
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def do_POST(self) -> None:
        """A message. A client that tries streamable HTTP first is told that there is none."""
        told = SESSIONS.get(self.path.rpartition("session=")[2])
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if told is None:
            self.send_error(405)
            return
        answer = answered(asked)
        if answer is not None:
            told.put(answer)
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
