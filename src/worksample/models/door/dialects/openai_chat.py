"""OpenAI's chat completions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction

from worksample.models.door.asked import (
    Asked,
    Refusal,
    arguments,
    assistant,
    content,
    need,
    picture,
    result,
    rows,
    take,
    tool,
)
from worksample.models.door.events import counts, event

from . import Dialect

FINISH = {"max_tokens": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}


def read(body: dict[str, Any], path: str) -> Asked:
    """See Dialect."""
    messages = rows(body, "messages")
    if not messages:
        raise Refusal(400, "messages is missing or empty")
    functions = [need(row, "function", dict) for row in rows(body, "tools") if row.get("type") == "function"]
    stop = body.get("stop")
    return Asked(
        model=need(body, "model", str),
        messages=[_message(row) for row in messages],
        tools=[tool(need(f, "name", str), take(f, "description", str), f.get("parameters")) for f in functions],
        choice=choice(body.get("tool_choice")),
        config=GenerateConfig(
            max_tokens=take(body, "max_completion_tokens", int) or take(body, "max_tokens", int),
            temperature=take(body, "temperature", float),
            top_p=take(body, "top_p", float),
            stop_seqs=[stop] if isinstance(stop, str) else take(body, "stop", list),
        ),
        stream=take(body, "stream", bool, False),
        usage_told=take(take(body, "stream_options", dict, {}), "include_usage", bool, False),
    )


def choice(value: Any) -> ToolChoice | None:
    """Which tool is to be called."""
    if isinstance(value, dict):
        name = take(value, "name", str) or take(take(value, "function", dict, {}), "name", str)
        return ToolFunction(name=name) if name else None
    plain: dict[Any, ToolChoice] = {"none": "none", "auto": "auto", "required": "any"}
    return plain.get(value)


def _message(row: dict[str, Any]) -> ChatMessage:
    role, parts = need(row, "role", str), _parts(row.get("content"))
    if role in ("system", "developer"):
        return ChatMessageSystem(content=content(parts))
    if role == "user":
        return ChatMessageUser(content=content(parts))
    if role == "tool":
        return result(need(row, "tool_call_id", str), content(parts))
    if role == "assistant":
        calls = []
        for call in rows(row, "tool_calls"):
            function = need(call, "function", dict)
            given = arguments(take(function, "arguments", str, ""))
            calls.append(ToolCall(id=need(call, "id", str), function=need(function, "name", str), arguments=given))
        return assistant("\n".join(p.text for p in parts if isinstance(p, ContentText)), calls)
    raise Refusal(400, f"messages: {role!r} is no role")


def _parts(value: Any) -> list[Content]:
    if value is None or isinstance(value, str):
        return [ContentText(text=value or "")]
    out: list[Content] = []
    for part in rows({"content": value}, "content"):
        if part.get("type") in ("text", "refusal"):
            out.append(ContentText(text=take(part, part["type"], str, "")))
        elif part.get("type") == "image_url":
            out.append(picture(need(need(part, "image_url", dict), "url", str)))
        else:
            raise Refusal(400, f"content of type {part.get('type')!r} is not taken here")
    return out


def _calls(output: ModelOutput) -> list[dict[str, Any]]:
    return [
        {"id": c.id, "type": "function", "function": {"name": c.function, "arguments": json.dumps(c.arguments)}}
        for c in output.message.tool_calls or ()
    ]


def _usage(output: ModelOutput) -> dict[str, Any]:
    prompt, answered, cached, _, reasoning = counts(output)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def _finish(output: ModelOutput) -> str:
    return "tool_calls" if output.message.tool_calls else FINISH.get(output.stop_reason, "stop")


def answer(output: ModelOutput, asked: Asked) -> dict[str, Any]:
    """See Dialect."""
    calls = _calls(output)
    message: dict[str, Any] = {"role": "assistant", "content": output.message.text or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    return {
        "id": f"chatcmpl-{output.message.id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(output), "logprobs": None}],
        "usage": _usage(output),
    }


def stream(output: ModelOutput, asked: Asked) -> Iterator[bytes]:
    """See Dialect."""
    head = {
        "id": f"chatcmpl-{output.message.id}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": asked.model,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]})

    yield chunk({"role": "assistant", "content": ""})
    if output.message.text:
        yield chunk({"content": output.message.text})
    for index, call in enumerate(_calls(output)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, _finish(output))
    if asked.usage_told:
        yield event({**head, "choices": [], "usage": _usage(output)})
    yield event("[DONE]")


def fault(status: int, message: str, kind: str) -> dict[str, Any]:
    """See Dialect."""
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


DIALECT = Dialect("openai", read, answer, stream, fault)
