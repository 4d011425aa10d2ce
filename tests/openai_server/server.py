"""The service: an HTTP server on 127.0.0.1 that answers in order, and repeats its last answer when they run out."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .answers import Answer, Fault
from .dialects import CHAT, JSON, ROUTES, Dialect
from .faults import Reply

_REFUSED: dict[Fault, tuple[int, str, str, dict[str, str]]] = {
    Fault.LIMIT: (429, "slow down", "rate_limit_exceeded", {"Retry-After": "0"}),
    Fault.BROKEN: (500, "something broke", "server_error", {}),
    Fault.REJECTED: (400, "this request is not served", "invalid_request_error", {}),
    Fault.FORBIDDEN: (401, "no such key", "invalid_api_key", {}),
}
"""Status, message, code and headers of what is refused."""
Chooser = Callable[[dict[str, Any], int], Answer]


@dataclass
class Served:
    """A running service: `base_url` for clients, `requests` as they came."""

    choose: Chooser
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def args(self) -> dict[str, Any]:
        """Model arguments that lead here."""
        return {"base_url": self.base_url, "api_key": "none"}

    @property
    def root(self) -> str:
        """Where clients look that add `/v1` themselves, as Anthropic's."""
        return self.base_url.removesuffix("/v1")


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """Connections that wait to be accepted. The kernel drops further ones: with the usual 5, a busy machine loses calls
    of a program that makes 50 at once."""


@contextmanager
def serving(answers: Sequence[Answer] | Chooser) -> Iterator[Served]:
    """Serve these answers in order, or what a function of request and count chooses."""
    served = Served(answers if callable(answers) else _in_order(answers))

    class Handler(_Handler):
        service = served

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _in_order(answers: Sequence[Answer]) -> Chooser:
    def choose(_: dict[str, Any], count: int) -> Answer:
        return answers[min(count, len(answers) - 1)]

    return choose


class _Handler(BaseHTTPRequestHandler):
    service: Served
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """An answer's head and body go at once, and not after the other side has acknowledged the head: 40 ms a call."""

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        dialect = ROUTES.get(self.path.partition("?")[0])
        if dialect is None:
            self._send(404, json.dumps(CHAT.fault("no such place", "not_found_error")).encode())
            return
        with self.service.lock:
            count = len(self.service.requests)
            self.service.requests.append(request)
        asked = request if dialect is CHAT else request | {"tools": dialect.tools(request)}
        answer = self.service.choose(asked, count)
        self._wait(answer.delay)
        self._answer(answer, count, request, dialect)

    def _answer(self, answer: Answer, count: int, request: dict[str, Any], dialect: Dialect) -> None:
        if isinstance(answer, Reply):
            self._send(answer.status, answer.content, answer.headers)
            return
        media, body = dialect.written(answer, count, request)
        refused = _REFUSED.get(answer.fault)
        if refused is not None:
            status, message, code, headers = refused
            self._send(status, json.dumps(dialect.fault(message, code)).encode(), headers)
        elif answer.fault is Fault.NOT_JSON:
            self._send(200, b"<html>a proxy says hello</html>")
        elif answer.fault is Fault.NO_CHOICES:
            self._send(200, json.dumps({**answer.body(count, request.get("model", "?")), "choices": []}).encode())
        elif answer.fault is Fault.CUT:
            self._head(200, len(body), {})
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif answer.fault is Fault.HANG:
            self._wait(3600)
            self.close_connection = True
        elif answer.chunk_delay:
            self._head(200, len(body), {}, media)
            step = len(body) // 20 + 1
            for start in range(0, len(body), step):
                self._wait(answer.chunk_delay)
                self.wfile.write(body[start : start + step])
                self.wfile.flush()
        else:
            self._send(200, body, media=media)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.service.closing.wait(min(left, 0.05)):
            pass

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, media: str = JSON) -> None:
        self._head(status, len(body), headers or {}, media)
        self.wfile.write(body)

    def _head(self, status: int, size: int, headers: dict[str, str], media: str = JSON) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(size))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
