"""Rejection of HTTP 200 responses that contain no answer, such as an unreadable body or a body without choices. Such a
response is a fault of the service.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from .call_failure import out_of_credit

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI, ModelOutput

TOO_LARGE = frozenset({400, 413, 422})
TOO_LONG = re.compile(
    r"context.(length|window|size)|(prompt|input|request) (is|are) too long|too many (input )?tokens", re.IGNORECASE
)
UNREADABLE = (
    json.JSONDecodeError,
    UnicodeDecodeError,
    ValidationError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
)
"""Errors that providers' clients raise for a malformed body."""


class NoAnswerError(Exception):
    """Error for a service's response that contains no answer of a model."""


def require_answers(api: ModelAPI) -> None:
    """Change a provider so that a request is retried if its response cannot be an answer, as after any other fault of
    the service.

    A response that reports an account without credit is not retried. Some services report it as a rate limit.
    """
    generate, should_retry = api.generate, api.should_retry

    async def generate_answer(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await generate(*args, **kwargs)
        except UNREADABLE as error:
            raise NoAnswerError(_unreadable(error)) from error
        answer = result[0] if isinstance(result, tuple) else result
        if isinstance(answer, Exception) and exceeds_context(answer):
            return _full(str(api.model_name), answer)
        if not isinstance(answer, Exception) and not answer.choices:
            raise NoAnswerError(_error_message(result) or "the service's answer has no choice in it")
        return result

    def again(ex: Exception) -> Any:
        if isinstance(ex, NoAnswerError):
            return True
        return False if out_of_credit(ex) else should_retry(ex)

    api.generate = generate_answer  # type: ignore[method-assign]
    api.should_retry = again  # type: ignore[method-assign]


def exceeds_context(error: Exception) -> bool:
    """Return whether a request was rejected because it is longer than the model's context. The wording of the message
    depends on the service.
    """
    status = getattr(error, "status_code", None)
    return status in TOO_LARGE and TOO_LONG.search(str(error)) is not None


def _full(name: str, error: Exception) -> ModelOutput:
    """Return the output that Inspect itself creates for a prompt that is too long, so that the conversation is
    compacted.
    """
    from inspect_ai.model import ModelOutput

    return ModelOutput.from_content(name, str(error), stop_reason="model_length")


def _unreadable(error: Exception) -> str:
    body = isinstance(error, json.JSONDecodeError | UnicodeDecodeError)
    what = "a body that is not JSON" if body else "JSON that is not a model's answer"
    return f"the service answered with {what} ({type(error).__name__}: {error})"


def _error_message(result: Any) -> str:
    """Return the error message in a response with the status 200. Some services report errors in this way."""
    call = result[1] if isinstance(result, tuple) else None
    body = getattr(call, "response", None)
    error = body.get("error") if isinstance(body, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    return f"the service answered: {said}" if isinstance(said, str) and said else ""
