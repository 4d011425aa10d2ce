"""Observation whether a model call reached its service. If a call fails before anything is sent, the request is at
fault.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .call_failure import failed_connection, status_of
from .service_wait_time import excuse

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ModelAPI

REJECTED = frozenset({400, 413, 414, 422})
"""HTTP statuses that concern the request itself: the service works and has read the request."""


class NotSentError(Exception):
    """Error for a request that could not be encoded, so that nothing was sent to the service."""


@dataclass
class SendProgress:
    """The progress of one model call."""

    provider: bool = False
    """True if the provider's client was called."""
    reports_requests: bool = False
    """True if the provider's client reports when it sends a request."""
    sent: bool = False
    event: ModelEvent | None = None
    """The last event of this call in the transcript. None if there is no event yet."""

    def failed_before_sending(self, error: BaseException) -> bool:
        """Return whether an error without an HTTP status was raised before anything was sent."""
        if status_of(error) is not None or failed_connection(error):
            return False
        return not self.provider or (self.reports_requests and not self.sent)


_ASKED: ContextVar[SendProgress | None] = ContextVar("worksample_asked", default=None)
_SENDING: ContextVar[SendProgress | None] = ContextVar("worksample_sending", default=None)


@contextmanager
def observe() -> Iterator[SendProgress]:
    """Observe the model call that is made within the block, and yield its progress."""
    seen = SendProgress()
    token = _ASKED.set(seen)
    try:
        yield seen
    finally:
        _ASKED.reset(token)


def observe_sending(api: ModelAPI) -> None:
    """Change a provider so that it raises NotSentError for requests that could not be sent, and marks rejected requests
    in the transcript.
    """
    _report_requests()
    generate = api.generate

    async def observed_call(*args: Any, **kwargs: Any) -> Any:
        from inspect_ai.log._samples import _active_model_event

        call = _ASKED.get() or SendProgress()
        call.provider, call.sent, call.event = True, False, _active_model_event.get()
        call.reports_requests = hasattr(api, "_http_hooks")
        token = _SENDING.set(call)
        try:
            result = await generate(*args, **kwargs)
        except Exception as error:
            if not call.failed_before_sending(error):
                _mark(call, error)
                raise
            excuse(call.event)
            raise NotSentError(" ".join(f"the request cannot be written: {error}".split())) from error
        finally:
            _SENDING.reset(token)
        answer = result[0] if isinstance(result, tuple) else result
        if isinstance(answer, Exception):
            _mark(call, answer)
        return result

    api.generate = observed_call  # type: ignore[method-assign]


def _mark(call: SendProgress, error: Exception) -> None:
    if status_of(error) in REJECTED:
        excuse(call.event)


@functools.cache
def _report_requests() -> None:
    """Change the hooks of Inspect's HTTP clients so that they report when a request is sent."""
    from inspect_ai.model._providers.util.hooks import ConverseHooks, HttpHooks, HttpxHooks

    begin, sent = HttpHooks._start_request, HttpHooks.update_request_time

    def begin_request(self: HttpHooks) -> str:
        if (call := _SENDING.get()) is not None and isinstance(self, HttpxHooks | ConverseHooks):
            call.reports_requests = True
        return begin(self)

    def note_sent(self: HttpHooks, request_id: str) -> None:
        if (call := _SENDING.get()) is not None:
            call.sent = True
        sent(self, request_id)

    HttpHooks._start_request = begin_request  # type: ignore[method-assign]
    HttpHooks.update_request_time = note_sent  # type: ignore[method-assign]
