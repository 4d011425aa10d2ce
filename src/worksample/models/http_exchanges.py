"""Recording of the HTTP requests behind one model call. A provider's client may send several requests but reports only
the last.
"""

from __future__ import annotations

import errno
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    import httpx
    from inspect_ai.model import ModelAPI

UNPAID = frozenset({401, 402, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422, 425, 426, 429, 451, 501, 503, 529})
"""HTTP statuses that cost nothing: the service refused the request or had no capacity, so it did not start the work."""
STREAM = "text/event-stream"
UNREACHED = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError")
"""Names of errors that HTTP clients raise before they have sent any byte of a request."""
_OPEN: ContextVar[list[HttpExchange] | None] = ContextVar("worksample_exchanges", default=None)
_HOOKED: WeakSet[Any] = WeakSet()


class Fate(StrEnum):
    """Outcome of an HTTP request with respect to its cost."""

    ANSWERED = "answered"
    FAILED = "failed"
    """The request costs nothing: it never reached the service, or the service refused it."""
    UNSETTLED = "unsettled"
    """The request may cost money: it was cut off, timed out, or failed after the service began to work."""


@dataclass(eq=False)
class HttpExchange:
    """A single HTTP request, and the part of its response that has arrived."""

    response: httpx.Response | None = None
    traced: bool = False
    """True if the HTTP client reports the progress of this request."""
    sent: bool = False

    @property
    def fate(self) -> Fate:
        """The outcome of the request as far as the HTTP response shows it."""
        if self.response is None:
            return Fate.FAILED if self.traced and not self.sent else Fate.UNSETTLED
        if self.response.is_success:
            return Fate.ANSWERED if self._whole else Fate.UNSETTLED
        return fate_of_status(self.response.status_code)

    @property
    def _whole(self) -> bool:
        """True if the whole body of the response arrived. A stream counts as complete if its reader finished."""
        assert self.response is not None
        return self.response.headers.get("content-type", "").startswith(STREAM) or self.body is not None

    @property
    def body(self) -> int | None:
        """The number of bytes of the response's body. None if the body is a stream or did not arrive completely."""
        try:
            return None if self.response is None else len(self.response.content)
        except RuntimeError:  # raised by httpx if the body was not read to its end
            return None


def fate_of_status(status: int) -> Fate:
    """Return the outcome of a request that failed with this HTTP status. The status 400 means that the service refused
    the request.
    """
    return Fate.FAILED if status == 400 or status in UNPAID else Fate.UNSETTLED


def never_sent(error: BaseException) -> bool:
    """Return whether an error means that no part of a request reached the service, because no connection was made."""
    link: BaseException | None = error
    seen: list[BaseException] = []
    while link is not None and link not in seen:
        if type(link).__name__ in UNREACHED or isinstance(link, ConnectionRefusedError):
            return True
        if isinstance(link, OSError) and link.errno in (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH):
            return True
        seen.append(link)
        link = link.__cause__ or link.__context__
    return False


def record_exchanges() -> list[HttpExchange]:
    """Start recording the HTTP exchanges in the current context, and return the list to which they will be added."""
    found: list[HttpExchange] = []
    _OPEN.set(found)
    return found


def hook_http_client(api: ModelAPI) -> bool:
    """Make a provider's HTTP client record its exchanges. Return False if the provider's client cannot be recorded."""
    client = getattr(getattr(api, "client", None), "_client", None)
    hooks = getattr(client, "event_hooks", None)
    if client is None or not isinstance(hooks, dict):
        return False
    if client not in _HOOKED:
        _HOOKED.add(client)
        hooks.setdefault("request", []).append(_note_sent)
        hooks.setdefault("response", []).append(_came)
    return True


async def _note_sent(request: httpx.Request) -> None:
    found = _OPEN.get()
    if found is not None:
        exchange = HttpExchange()
        found.append(exchange)
        request.extensions["worksample_exchange"] = exchange

        async def trace(event: str, info: Any) -> None:
            exchange.traced = True
            exchange.sent = exchange.sent or "send_request" in event

        request.extensions.setdefault("trace", trace)


async def _came(response: httpx.Response) -> None:
    exchange = response.request.extensions.get("worksample_exchange")
    if isinstance(exchange, HttpExchange):
        exchange.response = response
