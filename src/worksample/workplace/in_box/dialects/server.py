"""The server of the dialects. It listens on a socket behind the front door. The front door names the dialect of each
request in a header.
"""

from __future__ import annotations

import hmac
import sys
import threading
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

from .http_messages import NOT_SERVED, DialectRefused, DialectRequest, DialectResponse, json_response

REFUSED = "/.worksample/refused"
MOST = 1000
BODY = 64 << 20
Dialect = Callable[[DialectRequest], DialectResponse]


class DialectFront:
    """The common entry to all dialects of a workplace. It records the requests that the dialects do not support."""

    def __init__(self, dialects: Mapping[str, Dialect], operator: str) -> None:
        self._dialects, self._operator = dialects, operator
        self._refused: list[dict[str, str]] = []
        self._lock = threading.Lock()

    def answer(self, name: str, request: DialectRequest) -> DialectResponse:
        """Return the response to any request. If a dialect itself fails, the failure is printed and the response is an
        error.
        """
        if request.path == REFUSED:
            return self._refused_list(request)
        dialect = self._dialects.get(name)
        if dialect is None:
            return json_response({"error": "not found"}, 404)
        try:
            given = dialect(request)
        except DialectRefused as error:
            given = json_response({"error": error.why}, error.status, error.headers)
        except (ValueError, RecursionError) as error:
            given = json_response({"error": f"malformed request: {error}"}, 400)
        except OSError as error:
            sys.stderr.write(f"{name} {request.method} {request.path}: {error}\n")
            given = json_response({"error": "the service does not answer"}, 502)
        if given.status == NOT_SERVED or given.lacks:
            self._remember(name, request, given)
        return given

    def _refused_list(self, request: DialectRequest) -> DialectResponse:
        # The tracker recognises the operator by a key, other services by a password; both are the same text.
        name, word = request.basic or ("operator", request.headers.get("x-redmine-api-key", ""))
        if name != "operator" or not hmac.compare_digest(word.encode(), self._operator.encode()) or not self._operator:
            return json_response({"error": "not found"}, 404)
        with self._lock:
            return json_response({"refused": list(self._refused)}, by="operator")

    def _remember(self, name: str, request: DialectRequest, given: DialectResponse) -> None:
        why = given.lacks or (given.body.decode("utf-8", "replace") if isinstance(given.body, bytes) else "")
        with self._lock:
            if len(self._refused) < MOST:
                told = {"dialect": name, "method": request.method, "path": request.path[:500], "why": why[:500]}
                self._refused.append(told)


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    front: DialectFront

    def __getattr__(self, name: str) -> Any:
        # The standard library calls a method `do_VERB`; every verb is served the same way.
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def address_string(self) -> str:
        return ""

    def log_message(self, format: str, *words: Any) -> None:
        """Log nothing, because the front door logs the requests."""

    def _serve(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > BODY:
            self.close_connection = True
            self._say(json_response({"error": "too long"}, 413))
            return
        parts = urllib.parse.urlsplit(self.path)
        heads = {name.lower(): value for name, value in self.headers.items()}
        request = DialectRequest(
            self.command, parts.path, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True)), heads,
            self.rfile.read(int(length)), f"http://{heads.get('host', 'localhost')}",
        )  # fmt: skip
        self._say(self.front.answer(heads.get("x-dialect", ""), request))

    def _say(self, given: DialectResponse) -> None:
        self.send_response(given.status)
        if given.by:
            self.send_header("X-Account", given.by)
        heads = dict(given.headers)
        whole = given.body if isinstance(given.body, bytes) else None
        if whole is not None and given.status not in (204, 304):
            heads["Content-Length"] = heads.get("Content-Length", str(len(whole)))
        if whole is None and "Content-Length" not in heads:
            heads["Connection"] = "close"
            self.close_connection = True
        for name, value in heads.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            for piece in (given.body,) if isinstance(given.body, bytes) else given.body:
                self.wfile.write(piece)


def serve(place: Path, dialects: Sequence[str], state: Path, accounts: Mapping[str, str], operator: str) -> None:
    """Serve the dialects on the socket `place` until the process exits."""
    from ..git_pages.site import GitPages
    from .accounts import DialectAccounts
    from .gitlab.api import GitLab
    from .owncloud import OwnCloud
    from .plane.api import Plane
    from .rocketchat.api import RocketChat

    known = DialectAccounts(accounts, state / "dialects" / "accounts.json")
    pages = GitPages(known, state)
    kinds: dict[str, Callable[[], Dialect]] = {
        "gitlab": lambda: GitLab(known, state, pages).answer,
        "pages": lambda: pages.answer,
        "plane": lambda: Plane(known, state).answer,
        "owncloud": lambda: OwnCloud(accounts, state / "shares").answer,
        "rocketchat": lambda: RocketChat().answer,
    }
    _Handler.front = DialectFront({name: kinds[name]() for name in dialects}, operator)
    _Server(str(place), _Handler).serve_forever()
