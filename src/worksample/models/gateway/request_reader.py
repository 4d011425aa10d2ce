"""Parsing of request bodies: small bodies in this process, all others in a subprocess with limits.

A program may send input that is slow to parse. Therefore the numbers of values, nested levels, messages and schema
nodes are limited.
"""

from __future__ import annotations

from typing import Any

from worksample.errors import ForeignInputError, ForeignWorkLost
from worksample.files.untrusted import JsonLimits, count_values, read_json, shared_worker_pool

from .dialects import Dialect, anthropic, gemini, openai_chat, openai_responses
from .http_server import Body
from .request import ModelRequest
from .request_error import Refusal
from .request_validation import check_sendable
from .schema_references import NODES, SchemaTooLarge, shared_budget

DIALECTS: dict[str, Dialect] = {
    one.DIALECT.name: one.DIALECT for one in (openai_chat, openai_responses, anthropic, gemini)
}
LIMITS = JsonLimits()
"""Limits for the JSON of a request's body."""
MESSAGES = 4096
"""Maximum number of messages in one request. OpenAI accepts 2,048."""
TOOLS = 1024
PARTS = 4096
"""Maximum number of tool calls and non-text parts in all messages of a request. Inspect copies each of them."""
ARGUMENTS = 50_000
"""Maximum number of values in the arguments of all tool calls of a request."""
SMALL_BYTES, SMALL_VALUES, SMALL_NODES = 1 << 16, 1000, 2000
"""Maximum bytes, JSON values and schema nodes of a request that is parsed in this process. Parsing takes about 20 ms at
most.
"""


async def read_request(dialect: Dialect, body: Body, path: str) -> ModelRequest:
    """Parse the body of a request. Raises Refusal if the request is invalid or too large."""
    if len(body) <= SMALL_BYTES and count_values(data := bytes(body)) <= SMALL_VALUES:
        try:
            return read_body(data, dialect.name, path, SMALL_NODES)
        except SchemaTooLarge:
            pass  # read it again below, in the subprocess with the full limits
        except ForeignInputError as error:
            raise _refusal_of(error) from None
    try:
        found = await shared_worker_pool().run(
            "worksample.models.gateway.request_reader:read_in_subprocess", body.pieces, dialect.name, path
        )
    except ForeignInputError as error:
        raise _refusal_of(error) from None
    except ForeignWorkLost as error:
        raise Refusal(503, f"the request could not be read: {error.what}", "api_error") from None
    if isinstance(found, ModelRequest):
        return found
    status, message, kind = found
    raise Refusal(status, message, kind)


def warm() -> None:
    """Start the parsing subprocess in the background, so that the first large request need not wait for it."""
    shared_worker_pool().warm(__name__)


def read_in_subprocess(body: bytes, dialect: str, path: str) -> ModelRequest | tuple[int, str, str]:
    """Parse a request and number its messages. If the request is refused, return the status, message and kind of the
    Refusal instead.
    """
    try:
        return read_body(body, dialect, path)
    except Refusal as refusal:
        return refusal.status, refusal.message, refusal.kind


def read_body(body: bytes, dialect: str, path: str, nodes: int = NODES) -> ModelRequest:
    """Parse a body in the calling process. Raises Refusal if the request is invalid; ForeignInputError if the body is
    not JSON within the limits.
    """
    found = read_json(body, LIMITS)
    if not isinstance(found, dict):
        raise Refusal(400, "the body is not a JSON object")
    try:
        check_sendable(found)
        with shared_budget(nodes):
            asked = DIALECTS[dialect].read(found, path)
        _check_counts(asked)
        asked.number_messages()
    except Refusal:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of a foreign request: what it cannot be read by is its fault
        raise Refusal(400, f"the request cannot be read: {_line(error)}") from None
    return asked


def _check_counts(asked: ModelRequest) -> None:
    messages = asked.messages
    calls = [call for one in messages for call in getattr(one, "tool_calls", None) or ()]
    parts = len(calls) + sum(len(one.content) for one in messages if isinstance(one.content, list))
    values = _count_inside([call.arguments for call in calls])
    for name, count, most in (
        ("messages", len(messages), MESSAGES),
        ("tools", len(asked.tools), TOOLS),
        ("tool calls and parts of messages", parts, PARTS),
        ("values in the arguments of tool calls", values, ARGUMENTS),
    ):
        if count > most:
            raise Refusal(400, f"the request has {count} {name}; at most {most} are allowed")


def _count_inside(value: Any) -> int:
    """Return the number of values contained in a list or object, at any depth."""
    count, left = 0, [value]
    while left:
        one = left.pop()
        inside = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += len(inside)
        left.extend(inside)
    return count


def _refusal_of(error: ForeignInputError) -> Refusal:
    return Refusal(400, error.what)


def _line(error: Exception) -> str:
    said = " ".join(str(error)[:2000].split())[:500]
    return said if isinstance(error, ValueError) and said else f"{type(error).__name__}: {said}"
