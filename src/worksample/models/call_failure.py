"""Classification of failed model calls. A fault of the service is retried; a request that the service refuses is
not.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from socket import gaierror
from ssl import SSLError
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause

from .service_wait_time import is_cut_short, is_excused

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent

REFUSED = frozenset({400, 403, 404, 405, 406, 410, 413, 414, 415, 422, 451})
"""HTTP statuses that a repeated request would receive again. Other error statuses, such as 408, 409, 425, 429 and 5xx,
are temporary.
"""
NO_ACCESS = frozenset({401, 402})
"""HTTP statuses that every request with this API key receives: the key is wrong, or its account is empty."""
WRAPPING = "RetryError"
"""Name of the error in which the library tenacity wraps the last of several failures."""
TIMED_OUT = frozenset({"AttemptTimeoutError", "StreamIdleTimeoutError"})
"""Names of the errors that Inspect raises if no answer arrived in time."""
NO_CREDIT = "insufficient_quota"
"""OpenAI's error code for an account without credit. It comes with the status 429, but waiting does not help."""
LONGEST_CHAIN = 100
"""Maximum number of errors that are followed in a chain of causes."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A model call without a usable result."""

    cause: Cause
    reason: str


def failure_of(error: BaseException | None, events: Sequence[Event]) -> Failure | None:
    """Return the failed model call that caused `error`, or None if no model call is to blame.

    A model call is to blame if the last call in the transcript failed and was not cancelled, or if an earlier call
    failed with exactly this `error` (an agent may make several calls at once). Without an `error`, the time ran out; a
    call is then to blame if the last tries all failed, because the agent was waiting for the service. The HTTP status,
    if known, decides the cause: a rejected key (`model.key`), a rejected request (`model.refused`) or a fault of the
    service (`model.error`).
    """
    from inspect_ai.event import ModelEvent

    calls = [e for e in events if isinstance(e, ModelEvent)]
    if error is None:
        while calls and (calls[-1].pending or is_cut_short(calls[-1])):
            calls.pop()
    calls = calls[: _failed_with(error, calls)]
    if not calls:
        return None
    said = words_of(error) or calls[-1].error
    status = status_of(error)
    if is_excused(calls[-1]) and status not in REFUSED:
        return None
    cause = _cause(error, status)
    if cause is not Cause.MODEL_ERROR:
        return Failure(cause, _short(f"HTTP {status}: {said}"))
    failed = _failed_tries(calls)
    count = f"{failed} tries failed, the last: " if failed > 1 else ""
    at = f"HTTP {status}: " if status is not None and words_of(error) else ""
    return Failure(Cause.MODEL_ERROR, _short(f"{count}{at}{said}"))


def _failed_with(error: BaseException | None, calls: Sequence[ModelEvent]) -> int:
    """Return the number of calls up to and including the call that failed with `error`; 0 if no call failed with it."""
    from inspect_ai._util.error import exception_message

    causes: list[str] = []
    link = error
    while link is not None and len(causes) < LONGEST_CHAIN:
        causes.append(exception_message(link))
        link = link.__cause__
    for count in range(len(calls), 0, -1):
        call = calls[count - 1]
        failed = not call.pending and call.error is not None and not is_cut_short(call)
        if failed and (count == len(calls) or call.error in causes):
            return count
    return 0


def failure_of_call(error: BaseException) -> Failure:
    """Classify the failure of a single call that raised `error` after all its retries."""
    return Failure(_cause(error, status_of(error)), reason_of(error))


def status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status in an error or in one of its causes, or None if no status is known."""
    return next((s for s in map(_status, chain_of(error)) if s is not None), None)


def _cause(error: BaseException | None, status: int | None) -> Cause:
    if status in NO_ACCESS or any(out_of_credit(e) for e in chain_of(error)):
        return Cause.MODEL_KEY
    return Cause.MODEL_REFUSED if status in REFUSED else Cause.MODEL_ERROR


def reason_of(error: BaseException) -> str:
    """Return the reason why a call failed: the HTTP status and the provider's message, or else the error of the
    provider's client.
    """
    chain = chain_of(error)
    status = next((s for s in map(_status, chain) if s is not None), None)
    said = words_of(error) or next((str(e) for e in chain if str(e) and type(e).__name__ != WRAPPING), repr(error))
    return _short(said if status is None else f"HTTP {status}: {said}")


def words_of(error: BaseException | None) -> str:
    """Return the provider's message without the text that the provider's client adds. Return "" if the provider sent no
    message.
    """
    for link in chain_of(error):
        if (status := _status(link)) is None:
            continue
        for said in (_message(getattr(link, "body", None)), getattr(link, "provider_message", None)):
            if isinstance(said, str) and said.strip() and not said.startswith(f"Error code: {status}"):
                return said
    return ""


def refused_because(error: BaseException) -> str:
    """Return the operating system's reason why no connection was made. Return "" if the error has another cause."""
    found = [link for link in chain_of(error) if isinstance(link, OSError)]
    if not found:
        return ""
    number = found[-1].errno or 0
    return os.strerror(number) if number in errno.errorcode else found[-1].strerror or str(found[-1])


def failed_connection(error: BaseException) -> bool:
    """Return whether a connection failed, broke, or delivered no answer in time. Errors of reading or writing files do
    not count.
    """
    kinds = (ConnectionError, TimeoutError, gaierror, SSLError)
    return any(isinstance(link, kinds) or type(link).__name__ in TIMED_OUT for link in chain_of(error))


def out_of_credit(error: BaseException) -> bool:
    """Return whether the error says that the account is empty. Services report an empty account with the status 429,
    although waiting does not help.
    """
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    return NO_CREDIT in (getattr(error, "code", None), code)


def _message(body: Any) -> str | None:
    """Return the `message` in the body of an error response, in the format of OpenAI, Anthropic and compatible
    services.
    """
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message") if isinstance(inner, dict) else inner
    return said if isinstance(said, str) else None


def _failed_tries(calls: Sequence[ModelEvent]) -> int:
    failed = 0
    for call in reversed(calls):
        if call.error is None or call.pending:
            break
        failed += 1
    return failed


def chain_of(error: BaseException | None) -> list[BaseException]:
    """Return an error and all errors that caused it."""
    out: list[BaseException] = []
    while error is not None and error not in out:
        out.append(error)
        error = error.__cause__ or error.__context__
    return out


def _status(error: BaseException) -> int | None:
    value = getattr(error, "status_code", None)
    return value if isinstance(value, int) else None


def _short(text: str, size: int = 600) -> str:
    text = " ".join(text.split())
    return text if len(text) <= size else f"{text[:size]}..."
