"""Cleaning of a model's answer, which is untrusted input, before it is stored.

Text that UTF-8 cannot encode (lone surrogates, which JSON allows) would make it impossible to write the log of the
whole run. Impossible token counts would make limits and costs wrong.
"""

from __future__ import annotations

import math
import re
import traceback
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from worksample.errors import AgentError, Cause

from .usage import is_plausible

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI, ModelOutput

MOST_BITS = 1023
"""Maximum number of bits of an integer that can be converted to a float."""
DEEPEST = 128
"""Maximum depth of nested objects and lists in a tool call's arguments."""
PARSER = "parse_tool_call"
"""Name of the function in Inspect that parses the tool calls of an answer."""
_LONE = re.compile("[\ud800-\udfff]")


def scrub(value: Any) -> Any:
    """Return the value with every lone surrogate replaced by U+FFFD. Pydantic models are changed in place, and only if
    they contain a lone surrogate.
    """
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value) if _LONE.search(value) else value
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, tuple):
        return tuple(scrub(item) for item in value)
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        _scrub_model(value)
        return value
    if hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            setattr(value, name, scrub(getattr(value, name)))
    return value


def _scrub_model(model: BaseModel) -> None:
    for name, old in model.__dict__.items():
        new = scrub(old)
        if new != old:
            model.__dict__[name] = new


def _mend(output: ModelOutput) -> None:
    """Remove impossible usage from an output, and numbers that no tool can accept from its tool calls."""
    if output.usage is not None and not is_plausible(output.usage):
        output.usage = None
    for choice in output.choices:
        for call in choice.message.tool_calls or ():
            if why := _unwieldy(call.arguments):
                call.arguments, call.parse_error = {}, f"the arguments {why}"


def _unwieldy(value: Any) -> str:
    """Return the reason why no tool could accept these arguments, or "" if tools could.

    Such arguments contain an integer that no float can represent, NaN, infinity, or a structure that is nested too
    deeply to be written.
    """
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            return f"are nested deeper than {DEEPEST} levels"
        inner: list[Any] = []
        for item in level:
            if isinstance(item, int) and item.bit_length() > MOST_BITS:
                return "hold a number that is too large"
            if isinstance(item, float) and not math.isfinite(item):
                return "hold NaN or an infinite number"
            inner += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        level = inner
    return ""


def scrub_answers(api: ModelAPI) -> None:
    """Change a provider so that each of its answers can be stored. A call of the provider raises AgentError for tool
    calls that cannot be read.
    """
    generate = api.generate

    async def clean(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await generate(*args, **kwargs)
        except (ValueError, OverflowError, RecursionError) as error:
            # The model wrote JSON that Python cannot read, such as a number of 5,000 digits; the service is not at
            # fault.
            if any(frame.name == PARSER for frame in traceback.extract_tb(error.__traceback__)):
                raise AgentError(f"a tool call cannot be read: {error}", cause=Cause.AGENT_MALFORMED) from error
            raise
        if isinstance(result, Exception):
            return result
        answer = result[0] if isinstance(result, tuple) else result
        if not isinstance(answer, Exception):
            _mend(answer)
        return scrub(result)

    api.generate = clean  # type: ignore[method-assign]
