"""Classify failed model calls: a fault of the service, which is retried, or a request that it will not serve."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from socket import gaierror
from ssl import SSLError
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause

from .excused_waiting import is_cut_short, is_excused

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent

REFUSED = frozenset({400, 403, 404, 405, 406, 410, 413, 414, 415, 422, 451})
"""HTTP statuses that the same request would get again. All others (408, 409, 425, 429, 5xx) are temporary."""
NO_ACCESS = frozenset({401, 402})
"""HTTP statuses that every request with this key would get: the key is wrong, or its account is empty."""
WRAPPING = "RetryError"
"""The error that tenacity raises around the last of several failures."""
TIMED_OUT = frozenset({"AttemptTimeoutError", "StreamIdleTimeoutError"})
"""Errors that Inspect raises if no answer arrived in time."""
NO_CREDIT = "insufficient_quota"
"""OpenAI's code for a 429 that waiting does not resolve."""
LONGEST_CHAIN = 100
"""Most errors of a chain of causes that are followed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A model call without a usable result."""

    cause: Cause
    reason: str


def failure_of(error: BaseException | None, events: Sequence[Event]) -> Failure | None:
    """Return the model's failure behind `error`, or None if the model is not to blame.

    The model is to blame if the transcript's last call failed by itself, or an earlier one (an agent may make several
    at
    once) failed with this very `error`. Without an `error` (the time ran out) it is to blame if the last tries had all
    failed, because the agent was waiting for the service. The HTTP status, if known, separates a rejected key
    (`model.key`)
    and a rejected request (`model.refused`) from a fault of the service (`model.error`).
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
    """Return the number of calls up to the one that failed with `error`; 0 if no call did."""
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
    """Classify a call that raised `error` after all its retries."""
    return Failure(_cause(error, status_of(error)), reason_of(error))


def status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status behind an error, if any."""
    return next((s for s in map(_status, chain_of(error)) if s is not None), None)


def _cause(error: BaseException | None, status: int | None) -> Cause:
    if status in NO_ACCESS or any(out_of_credit(e) for e in chain_of(error)):
        return Cause.MODEL_KEY
    return Cause.MODEL_REFUSED if status in REFUSED else Cause.MODEL_ERROR


def reason_of(error: BaseException) -> str:
    """Return why a call failed: HTTP status and the provider's words, else what its client raised."""
    chain = chain_of(error)
    status = next((s for s in map(_status, chain) if s is not None), None)
    said = words_of(error) or next((str(e) for e in chain if str(e) and type(e).__name__ != WRAPPING), repr(error))
    return _short(said if status is None else f"HTTP {status}: {said}")


def words_of(error: BaseException | None) -> str:
    """Return the provider's own message without its client's wrapping, or ""."""
    for link in chain_of(error):
        if (status := _status(link)) is None:
            continue
        for said in (_message(getattr(link, "body", None)), getattr(link, "provider_message", None)):
            if isinstance(said, str) and said.strip() and not said.startswith(f"Error code: {status}"):
                return said
    return ""


def refused_because(error: BaseException) -> str:
    """Return why no connection was made, in the system's words, or "" if connections are not the cause."""
    found = [link for link in chain_of(error) if isinstance(link, OSError)]
    if not found:
        return ""
    number = found[-1].errno or 0
    return os.strerror(number) if number in errno.errorcode else found[-1].strerror or str(found[-1])


def failed_connection(error: BaseException) -> bool:
    """Whether no connection was made, one broke, or no answer arrived in time. A file's error does not count."""
    kinds = (ConnectionError, TimeoutError, gaierror, SSLError)
    return any(isinstance(link, kinds) or type(link).__name__ in TIMED_OUT for link in chain_of(error))


def out_of_credit(error: BaseException) -> bool:
    """Whether a service reports that the account is empty; it answers 429, as if waiting would help."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    return NO_CREDIT in (getattr(error, "code", None), code)


def _message(body: Any) -> str | None:
    """Return `message` of an error's body, in the forms of OpenAI, Anthropic and compatible services."""
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
