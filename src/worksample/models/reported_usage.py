"""Reading of the token counts that services report. Services use different names for them, and some report only a part
or nothing.

An answer without token counts stays valid: `request_account.estimate` estimates the missing counts.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

_PROVIDERS = "inspect_ai.model._providers."
_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "prompt_details")
_READ = (
    "cached_tokens",  # OpenAI in its details; Moonshot, Together, StepFun beside them
    "prompt_cache_hit_tokens",  # DeepSeek, SiliconFlow
    "cache_read_input_tokens",  # LiteLLM, Databricks
    "num_cached_tokens",  # Mistral
    "cached_prompt_tokens",
    "cache_read_tokens",
)
_WRITTEN = (
    "cache_write_tokens",  # OpenAI, OpenRouter
    "cache_creation_input_tokens",  # LiteLLM, Qwen
    "cache_creation_tokens",
    "cached_creation_tokens",
)
_MISSED = "prompt_cache_miss_tokens"
_REASONING = ("completion_tokens_details", "output_tokens_details")


def read_usage() -> None:
    """Change the loaded providers so that they understand the token counts of every service. Calling the function again
    changes nothing.
    """
    for name, module in tuple(sys.modules.items()):
        if name.startswith(_PROVIDERS) or name == "inspect_ai.model._openai_responses":
            _replace(module, "model_output_from_openai", _wrap_chat_usage)
            _replace(module, "model_usage_from_response_usage", _wrap_response_usage)
            _replace(module, "model_output_from_message", _wrap_message_usage)
        elif name == "anthropic.lib.streaming._messages":
            _replace(module, "accumulate_event", _wrap_accumulation)


def _replace(module: Any, name: str, made: Callable[[Any], Any]) -> None:
    before = vars(module).get(name)
    if before is not None and not getattr(before, "worksample", False):
        after = functools.wraps(before)(made(before))
        setattr(after, "worksample", True)  # noqa: B010 - a mark that no type of functions knows
        setattr(module, name, after)


def _wrap_chat_usage(convert: Any) -> Any:
    def convert_with_counts(completion: Any, choices: Any) -> Any:
        completion.usage = _chat(completion.usage)
        return convert(completion, choices)

    return convert_with_counts


def _wrap_response_usage(convert: Any) -> Any:
    def convert_with_counts(usage: Any) -> Any:
        return convert(_response(usage))

    return convert_with_counts


def _wrap_message_usage(convert: Any) -> Any:
    async def convert_with_counts(client: Any, model: Any, message: Any, *args: Any, **rest: Any) -> Any:
        from anthropic.types import Usage

        usage = message.usage = message.usage if isinstance(message.usage, Usage) else Usage.construct()
        usage.input_tokens = _first([usage], _INPUT) or 0
        usage.output_tokens = _first([usage], _OUTPUT) or 0
        return await convert(client, model, message, *args, **rest)

    return convert_with_counts


def _wrap_accumulation(accumulate: Any) -> Any:
    def accumulate_with_counts(*, event: Any, **rest: Any) -> Any:
        from anthropic.types import MessageDeltaUsage, Usage

        kind = getattr(event, "type", None)
        if kind == "message_start" and not isinstance(event.message.usage, Usage):
            event.message.usage = Usage.construct(input_tokens=0, output_tokens=0)
        if kind == "message_delta" and not isinstance(event.usage, MessageDeltaUsage):
            event.usage = MessageDeltaUsage.construct(output_tokens=rest["current_snapshot"].usage.output_tokens)
        return accumulate(event=event, **rest)

    return accumulate_with_counts


def _chat(usage: Any) -> Any:
    from openai.types import CompletionUsage
    from openai.types.completion_usage import CompletionTokensDetails, PromptTokensDetails

    if usage is None:
        return None
    prompt, answer, read, written, reasoning, total = _counts(usage)
    details, more = None, None
    if read is not None or written is not None:
        details = PromptTokensDetails.construct(cached_tokens=read, cache_write_tokens=written)
    if reasoning is not None:
        more = CompletionTokensDetails(reasoning_tokens=reasoning)
    return CompletionUsage(
        prompt_tokens=prompt,
        completion_tokens=answer,
        total_tokens=total,
        prompt_tokens_details=details,
        completion_tokens_details=more,
    )


def _response(usage: Any) -> Any:
    from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails, ResponseUsage

    if usage is None:
        return None
    prompt, answer, read, written, reasoning, total = _counts(usage)
    return ResponseUsage(
        input_tokens=prompt,
        output_tokens=answer,
        total_tokens=total,
        input_tokens_details=InputTokensDetails.construct(cached_tokens=read or 0, cache_write_tokens=written or 0),
        output_tokens_details=OutputTokensDetails(reasoning_tokens=reasoning or 0),
    )


def _counts(usage: Any) -> tuple[int, int, int | None, int | None, int | None, int]:
    """Return six token counts: of the whole prompt, of the answer, read from the cache, written to the cache, of
    reasoning, and the total.

    A count that is not reported is 0 or None. If a service reports more cached tokens than prompt tokens, its prompt
    count does not include the cached tokens, so both are added.
    """
    details = [detail for name in _DETAILS if (detail := _field(usage, name)) is not None]
    cached, missed = _first([*details, usage], _READ), _first([usage], (_MISSED,))
    written = _first([*details, usage], _WRITTEN)
    apart = (cached or 0) + (written or 0)
    prompt = _first([usage], _INPUT)
    if prompt is None:
        prompt = 0 if missed is None else missed + apart
    elif 0 <= prompt < apart:
        prompt += apart
    answer = _first([usage], _OUTPUT) or 0
    thinking = [detail for name in _REASONING if (detail := _field(usage, name)) is not None]
    reasoning = _first([*thinking, usage], ("reasoning_tokens",))
    total = _first([usage], ("total_tokens",))
    return prompt, answer, cached, written, reasoning, prompt + answer if total is None else total


def _first(places: Iterable[Any], names: Iterable[str]) -> int | None:
    """Return the largest count found under any of these names. Some services write 0 into fields that they do not
    use.
    """
    names = tuple(names)
    found = [count for place in places for name in names if (count := _count(_field(place, name))) is not None]
    return max(found, default=None)


def _field(place: Any, name: str) -> Any:
    return place.get(name) if isinstance(place, dict) else getattr(place, name, None)


def _count(value: Any) -> int | None:
    """Return a token count, which may also be written as text or with a decimal point. Return None if the value is no
    count.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if math.isfinite(number) else None
