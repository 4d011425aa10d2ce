"""A server that keeps what providers' clients send, and answers with a fault of no importance."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Recorded:
    """Requests as they came: path and body."""

    address: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def last(self) -> tuple[str, dict[str, Any]]:
        return self.requests[-1]


@contextmanager
def recording() -> Iterator[Recorded]:
    """Record on a port of loopback."""
    kept = Recorded()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kept.requests.append((self.path, body))
            said = b'{"error": {"message": "recorded", "code": 400, "status": "INVALID_ARGUMENT"}}'
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
