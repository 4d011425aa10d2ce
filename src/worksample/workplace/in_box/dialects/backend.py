"""A client of a service behind the front door. Each request names the account that sends it."""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SECONDS = 120.0
PIECE = 1 << 16


def basic(account: str, password: str) -> str:
    """Return the header value for HTTP basic authentication."""
    return "Basic " + base64.b64encode(f"{account}:{password}".encode()).decode()


class _Local(http.client.HTTPConnection):
    """An HTTP connection over a Unix socket."""

    def __init__(self, place: str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._place)


@dataclass(frozen=True)
class Backend:
    """Address of a service: its port on the loopback, or the path of its Unix socket. `host` is the host name that the
    service expects in requests.
    """

    place: int | str
    host: str

    def ask(
        self, method: str, path: str, who: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """Send a request and return the answer, whose body is not read yet. `who` is the value of the header
        Authorization. Raises OSError if no answer comes.
        """
        place = self.place
        connection = (
            _Local(place) if isinstance(place, str) else http.client.HTTPConnection("127.0.0.1", place, timeout=SECONDS)
        )
        given = {"Host": self.host, "Authorization": who, "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http"}
        try:
            connection.request(method, path, body, {**given, "Connection": "close", **(headers or {})})
            return connection.getresponse()
        except http.client.HTTPException as error:
            connection.close()
            raise OSError(f"{type(error).__name__}: {error}") from error

    def json(
        self, method: str, path: str, who: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a request and return the status and the JSON value of the answer. The value is None if the answer is not
        JSON.
        """
        data = None if body is None else json.dumps(body).encode()
        answer = self.ask(method, path, who, data, {"Content-Type": "application/json", **(headers or {})})
        with answer:
            said = answer.read()
        try:
            return answer.status, json.loads(said)
        except ValueError:
            return answer.status, None


def read_pieces(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the body of an HTTP answer piece by piece."""
    with answer:
        while piece := answer.read(PIECE):
            yield piece


CHAT = Backend(5280, "workplace")
FILES = Backend(3923, "files:8092")
TRACKER = Backend("/tmp/workplace/tracker.sock", "tracker:8091")
