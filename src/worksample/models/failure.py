"""What a failed model call means: a fault of the service, which is tried again, or a request that it will not serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.errors import Cause

if TYPE_CHECKING:
    from inspect_ai.event import Event

REFUSED = frozenset({400, 401, 402, 403, 404, 405, 406, 410, 413, 414, 415, 422, 451})
"""HTTP answers that the same request would get again. All others (408, 409, 425, 429, 5xx) pass."""
CUT_SHORT = frozenset(
    {
        "RuntimeError('model call cancelled')",
        "model call cancelled",
        "Cancelled by operator",
        "Cancelled by limit",
        "Cancelled by system",
    }
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A model that gave no usable service."""

    cause: Cause
    reason: str


def failure_of(error: BaseException | None, events: Sequence[Event]) -> Failure | None:
    """The failure of the model behind `error`, or None where the model is not to blame.

    The model is to blame when the last call of the transcript failed by itself. Without an `error` (the time ran out)
    it is to blame when the last tries had all failed: the agent was waiting for the service. A rejected request
    (`model.refused`) is told from a fault of the service (`model.error`) by the HTTP status, where there is one.
    """
    from inspect_ai.event import ModelEvent

    calls = [e for e in events if isinstance(e, ModelEvent)]
    if error is None:
        while calls and (calls[-1].pending or _cut_short(calls[-1])):
            calls.pop()
    if not calls or calls[-1].pending or calls[-1].error is None or _cut_short(calls[-1]):
        return None
    said = calls[-1].error
    status = next((s for s in map(_status, _chain(error)) if s is not None), None)
    if status in REFUSED:
        return Failure(Cause.MODEL_REFUSED, _short(f"HTTP {status}: {said}"))
    failed = 0
    for call in reversed(calls):
        if call.error is None or call.pending:
            break
        failed += 1
    count = f"{failed} tries failed, the last: " if failed > 1 else ""
    return Failure(Cause.MODEL_ERROR, _short(f"{count}{said}"))


def failure_of_call(error: BaseException) -> tuple[Failure, int | None]:
    """What a call that raised `error` after all its retries means, and the HTTP status behind it where there is one."""
    told = next((one for one in _chain(error) if _status(one) is not None), None)
    status = _status(told) if told is not None else None
    said = _short(f"HTTP {status}: {told}" if told is not None else f"{type(error).__name__}: {error}")
    return Failure(Cause.MODEL_REFUSED if status in REFUSED else Cause.MODEL_ERROR, said), status


def _cut_short(call: object) -> bool:
    error = getattr(call, "error", None)
    return isinstance(error, str) and any(error == mark or error.endswith(mark) for mark in CUT_SHORT)


def _chain(error: BaseException | None) -> list[BaseException]:
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
