"""A request's body becomes what it asks: small ones here, all others in a process of their own, under limits.

What a program sends may be made to be slow: values, levels, messages and schemas are counted.
"""

from __future__ import annotations

from typing import Any

from worksample.errors import ForeignInputError, ForeignWorkLost
from worksample.files.untrusted import JsonLimits, count_values, read_json, shared_worker_pool

from .dialects import Dialect, anthropic, gemini, openai_chat, openai_responses
from .http import Body
from .refusal import Refusal
from .request import ModelRequest
from .request_validation import check_sound
from .schema_references import NODES, SchemaTooLarge, counted

DIALECTS: dict[str, Dialect] = {
    one.DIALECT.name: one.DIALECT for one in (openai_chat, openai_responses, anthropic, gemini)
}
LIMITS = JsonLimits()
"""Of a body."""
MESSAGES = 4096
"""Of one request: OpenAI itself takes 2,048."""
TOOLS = 1024
PARTS = 4096
"""Of all messages: tool calls, and pieces of content that are not joined as text. The engine copies each."""
ARGUMENTS = 50_000
"""Values in the arguments of all tool calls."""
SMALL_BYTES, SMALL_VALUES, SMALL_NODES = 1 << 16, 1000, 2000
"""What is read in this process takes some 20 ms at most."""


async def read(dialect: Dialect, body: Body, path: str) -> ModelRequest:
    """What is asked. Refusal."""
    if len(body) <= SMALL_BYTES and count_values(data := bytes(body)) <= SMALL_VALUES:
        try:
            return read_body(data, dialect.name, path, SMALL_NODES)
        except SchemaTooLarge:
            pass  # in all detail, and elsewhere
        except ForeignInputError as error:
            raise _refused(error) from None
    try:
        found = await shared_worker_pool().run(
            "worksample.models.gateway.request_reader:read_apart", body.pieces, dialect.name, path
        )
    except ForeignInputError as error:
        raise _refused(error) from None
    except ForeignWorkLost as error:
        raise Refusal(503, f"the request could not be read: {error.what}", "api_error") from None
    if isinstance(found, ModelRequest):
        return found
    status, message, kind = found
    raise Refusal(status, message, kind)


def warm() -> None:
    """Have a process ready, in the background."""
    shared_worker_pool().warm(__name__)


def read_apart(body: bytes, dialect: str, path: str) -> ModelRequest | tuple[int, str, str]:
    """In a process of its own: what is asked, its messages numbered, or what a Refusal says."""
    try:
        return read_body(body, dialect, path)
    except Refusal as refusal:
        return refusal.status, refusal.message, refusal.kind


def read_body(body: bytes, dialect: str, path: str, nodes: int = NODES) -> ModelRequest:
    """What is asked. Refusal, ForeignInputError."""
    found = read_json(body, LIMITS)
    if not isinstance(found, dict):
        raise Refusal(400, "the body is not a JSON object")
    try:
        check_sound(found)
        with counted(nodes):
            asked = DIALECTS[dialect].read(found, path)
        _check_counts(asked)
        asked.numbered()
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
            raise Refusal(400, f"the request has {count} {name}; at most {most} are taken")


def _count_inside(value: Any) -> int:
    """The values in lists and objects, at any depth."""
    count, left = 0, [value]
    while left:
        one = left.pop()
        inside = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += len(inside)
        left.extend(inside)
    return count


def _refused(error: ForeignInputError) -> Refusal:
    return Refusal(400, error.what)


def _line(error: Exception) -> str:
    said = " ".join(str(error)[:2000].split())[:500]
    return said if isinstance(error, ValueError) and said else f"{type(error).__name__}: {said}"
