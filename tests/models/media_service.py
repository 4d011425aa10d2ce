"""A media service on loopback that answers as OpenAI's and Google's do: pictures, speech, films, and 429 on demand."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
MP3, PCM, MP4 = b"ID3 speech", b"\0\1" * 50, b"\0\0\0\x18ftypmp42 film"


class MediaDouble(BaseHTTPRequestHandler):
    """Handler whose server keeps the requests in `seen` and answers the next `busy` ones with 429."""

    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        self.server.seen.append((self.path.partition("?")[0], body))
        if self.server.busy > 0:
            self.server.busy -= 1
            self._send(429, json.dumps({"error": {"message": "slow down", "code": 429}}).encode())
            return
        kind, content = self._content(self.path.partition("?")[0], body)
        self._send(200, content, kind)

    def _content(self, path: str, body: bytes) -> tuple[str, bytes]:
        text = base64.b64encode
        if path.endswith("/audio/speech"):
            return "audio/mpeg", MP3
        if path.endswith("/content") or path.endswith(":download"):
            return "video/mp4", MP4
        if "/images/" in path:
            return _json({"created": 1, "data": [{"b64_json": text(PNG).decode()}]})
        if "/videos" in path:
            return _json({"id": "v1", "object": "video", "status": "completed", "created_at": 1, "progress": 100})
        if path.endswith(":predictLongRunning") or "/operations/" in path:
            film = {"bytesBase64Encoded": text(MP4).decode(), "mimeType": "video/mp4"}
            return _json({"name": "models/veo/operations/1", "done": True, "response": {"videos": [film]}})
        data = PCM if b"AUDIO" in body else PNG
        part = {"inlineData": {"mimeType": "image/png", "data": text(data).decode()}}
        return _json({"candidates": [{"content": {"role": "model", "parts": [part]}}]})

    def _send(self, status: int, content: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(content)


def _json(value: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()


@contextmanager
def media_service(busy: int = 0) -> Iterator[Any]:
    """Yield the server; `server.url` is its address, `server.seen` its requests."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), MediaDouble)
    server.seen, server.busy, server.url = [], busy, f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
