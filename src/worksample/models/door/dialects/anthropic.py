"""Anthropic's messages."""

from __future__ import annotations

import json
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

from worksample.models.door.asked import Asked, Refusal, assistant, content, need, picture, result, rows, take, tool
from worksample.models.door.events import counts, event, thoughts

from . import Dialect

STOP = {"max_tokens": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
KINDS = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}


def read(body: dict[str, Any], path: str) -> Asked:
    """See Dialect."""
    given = rows(body, "messages")
    if not given:
        raise Refusal(400, "messages: at least one message is required")
    system = content(_parts(body.get("system"))) if body.get("system") else ""
    messages: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    for row in given:
        messages += _messages(row)
    tools = [row for row in rows(body, "tools") if take(row, "type", str, "custom") == "custom"]
    return Asked(
        model=need(body, "model", str),
        messages=messages,
        tools=[tool(need(t, "name", str), take(t, "description", str), t.get("input_schema")) for t in tools],
        choice=_choice(take(body, "tool_choice", dict, {})),
        config=GenerateConfig(
            max_tokens=need(body, "max_tokens", int),
            temperature=take(body, "temperature", float),
            top_p=take(body, "top_p", float),
            top_k=take(body, "top_k", int),
            stop_seqs=take(body, "stop_sequences", list),
        ),
        stream=take(body, "stream", bool, False),
    )


def _choice(value: dict[str, Any]) -> ToolChoice | None:
    if value.get("type") == "tool":
        return ToolFunction(name=need(value, "name", str))
    plain: dict[Any, ToolChoice] = {"none": "none", "auto": "auto", "any": "any"}
    return plain.get(value.get("type"))


def _messages(row: dict[str, Any]) -> list[ChatMessage]:
    """A turn of the user may hold results of several tools, each of which is a message."""
    role, value = need(row, "role", str), row.get("content")
    blocks = [{"type": "text", "text": value}] if isinstance(value, str) else rows(row, "content")
    if role == "assistant":
        said = [take(b, "text", str, "") for b in blocks if b.get("type") == "text"]
        calls = [
            ToolCall(id=need(b, "id", str), function=need(b, "name", str), arguments=take(b, "input", dict, {}))
            for b in blocks
            if b.get("type") == "tool_use"
        ]
        return [assistant("\n".join(said), calls)]
    if role == "system":
        return [ChatMessageSystem(content=content(_parts(blocks)))]
    if role != "user":
        raise Refusal(400, f"messages: {role!r} is no role")
    out: list[ChatMessage] = []
    rest: list[dict[str, Any]] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            out.append(result(need(block, "tool_use_id", str), content(_parts(block.get("content")))))
        else:
            rest.append(block)
    return [*out, ChatMessageUser(content=content(_parts(rest)))] if rest or not out else out


def _parts(value: Any) -> list[Content]:
    if value is None or isinstance(value, str):
        return [ContentText(text=value or "")]
    out: list[Content] = []
    for part in rows({"content": value}, "content"):
        if part.get("type") == "text":
            out.append(ContentText(text=take(part, "text", str, "")))
        elif part.get("type") == "image":
            source = need(part, "source", dict)
            kind, data = take(source, "media_type", str, ""), take(source, "data", str, "")
            out.append(picture(f"data:{kind};base64,{data}" if source.get("type") == "base64" else ""))
        else:
            raise Refusal(400, f"content of type {part.get('type')!r} is not taken here")
    return out


def _blocks(output: ModelOutput) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for thought in thoughts(output):
        if not thought.redacted and thought.signature:
            blocks.append({"type": "thinking", "thinking": thought.reasoning, "signature": thought.signature})
    if output.message.text or not output.message.tool_calls:
        blocks.append({"type": "text", "text": output.message.text})
    for call in output.message.tool_calls or ():
        blocks.append({"type": "tool_use", "id": call.id, "name": call.function, "input": call.arguments})
    return blocks


def answer(output: ModelOutput, asked: Asked) -> dict[str, Any]:
    """See Dialect."""
    prompt, answered, cached, written, _ = counts(output)
    return {
        "id": f"msg_{output.message.id}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": _blocks(output),
        "stop_reason": "tool_use" if output.message.tool_calls else STOP.get(output.stop_reason, "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": prompt - cached - written,
            "output_tokens": answered,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
        },
    }


def stream(output: ModelOutput, asked: Asked) -> Iterator[bytes]:
    """See Dialect."""
    whole = answer(output, asked)

    def told(kind: str, **rest: Any) -> bytes:
        return event({"type": kind, **rest}, kind)

    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 0}}
    yield told("message_start", message=begun)
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        elif block["type"] == "thinking":
            empty = {**block, "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            empty = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        yield told("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield told("content_block_delta", index=index, delta=delta)
        yield told("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield told("message_delta", delta=ended, usage=whole["usage"])
    yield told("message_stop")


def fault(status: int, message: str, kind: str) -> dict[str, Any]:
    """See Dialect."""
    named = KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": named, "message": message}}


DIALECT = Dialect("anthropic", read, answer, stream, fault)
