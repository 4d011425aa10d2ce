"""The dialect of Anthropic's Messages API."""

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
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from worksample.models.gateway.request import (
    EFFORTS,
    ModelRequest,
    Refusal,
    answer_schema,
    assistant_message,
    build_tool,
    join_content,
    optional,
    read_count,
    read_media,
    read_picture,
    read_required,
    read_rows,
    read_texts,
    read_word,
    tool_result_message,
    unused_settings,
)
from worksample.models.gateway.server_sent_events import format_event, reasoning_parts, token_counts

from . import Dialect

STOP = {"max_tokens": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
KINDS = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}


TAKEN = (
    "model", "messages", "system", "max_tokens", "tools", "tool_choice", "temperature", "top_p", "top_k",
    "stop_sequences", "stream", "thinking", "output_config", "output_format",
)  # fmt: skip
REFUSED: dict[str, Any] = {"container": None, "mcp_servers": [], "fallbacks": [], "thread": None, "compaction": None}


BLOCK = ("type", "text", "id", "name", "input", "thinking", "signature", "data")
PART = ("type", "text", "source", "title")
RESULT = ("tool_use_id", "content", "is_error")
OWN = ("text", "tool_use", "thinking", "redacted_thinking")
"""Types of the parts that a model's answer may have. Reasoning among them is restored from the gateway's memory."""


def read(body: dict[str, Any], path: str) -> ModelRequest:
    """Parse a Messages request into a `ModelRequest`. Raises Refusal if the request is invalid."""
    given = read_rows(body, "messages")
    if not given:
        raise Refusal(400, "messages: at least one message is required")
    notes = unused_settings(body, TAKEN, REFUSED)
    system = join_content(_parts(body.get("system"), notes)) if body.get("system") else ""
    messages: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    for row in given:
        messages += _messages(row, notes)
    chosen = optional(body, "tool_choice", dict, {})
    notes += unused_settings(chosen, ("type", "name", "disable_parallel_tool_use"), within="tool_choice.")
    alone = optional(chosen, "disable_parallel_tool_use", bool)
    return ModelRequest(
        model=read_required(body, "model", str),
        messages=messages,
        tools=[made for row in read_rows(body, "tools") if (made := _tool(row, notes)) is not None],
        choice=_choice(chosen),
        config=GenerateConfig(
            max_tokens=_most(body),
            temperature=optional(body, "temperature", float),
            top_p=optional(body, "top_p", float),
            top_k=read_count(body, "top_k", -1),
            stop_seqs=read_texts(body, "stop_sequences"),
            parallel_tool_calls=None if alone is None else not alone,
            **_thinking(body, notes),
        ),
        stream=optional(body, "stream", bool, False),
        ignored_settings=notes,
    )


def _most(body: dict[str, Any]) -> int:
    most = read_count(body, "max_tokens", 1)
    if most is None:
        raise Refusal(400, "max_tokens is missing")
    return most


def _thinking(body: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the settings for reasoning effort and for the format of the answer."""
    thinking, output = optional(body, "thinking", dict, {}), optional(body, "output_config", dict, {})
    kind = read_word(thinking, "type", ("enabled", "disabled", "adaptive"))
    notes += unused_settings(thinking, ("type", "budget_tokens"), within="thinking.")
    notes += ["thinking: disabled"] if kind == "disabled" else []
    notes += unused_settings(output, ("effort", "format"), within="output_config.")
    effort = read_word(output, "effort", EFFORTS[2:])
    form = optional(output, "format", dict) or optional(body, "output_format", dict, {})
    read_word(form, "type", ("json_schema",))
    notes += unused_settings(form, ("type", "name", "schema"), within="output_config.format.")
    return {
        "reasoning_tokens": read_count(thinking, "budget_tokens", 1) if kind == "enabled" else None,
        "effort": effort,
        "reasoning_effort": effort if kind == "adaptive" else None,
        "response_schema": answer_schema(form.get("schema"), optional(form, "name", str)) if form else None,
    }


def _tool(row: dict[str, Any], notes: list[str]) -> ToolInfo | None:
    """Return a tool of the request. Return None for a tool that runs on the provider's servers, and add its name to
    `notes`.
    """
    kind = optional(row, "type", str, "custom")
    if kind != "custom":
        notes.append(f"tools: {kind}")
        return None
    notes += unused_settings(row, ("type", "name", "description", "input_schema"), within="tools.")
    return build_tool(read_required(row, "name", str), optional(row, "description", str), row.get("input_schema"))


def _choice(value: dict[str, Any]) -> ToolChoice | None:
    kind = read_word(value, "type", ("none", "auto", "any", "tool"))
    return ToolFunction(name=read_required(value, "name", str)) if kind == "tool" else kind


def _messages(row: dict[str, Any], notes: list[str]) -> list[ChatMessage]:
    """Return the messages of one turn. A user's turn may contain the results of several tools; each result becomes a
    separate message.
    """
    role, value = read_required(row, "role", str), row.get("content")
    blocks = [{"type": "text", "text": value}] if isinstance(value, str) else read_rows(row, "content")
    notes += unused_settings(row, ("role", "content"), within="messages.")
    for block in blocks:
        notes += unused_settings(
            block, BLOCK if optional(block, "type", str, "") in OWN else (*PART, *RESULT), within="content."
        )
    if role == "assistant":
        odd = [b for b in blocks if optional(b, "type", str, "") not in OWN]
        if odd:
            raise Refusal(400, f"content of type {str(odd[0].get('type'))[:100]!r} is not supported")
        said = [optional(b, "text", str, "") for b in blocks if b.get("type") == "text"]
        calls = [
            ToolCall(
                id=read_required(b, "id", str),
                function=read_required(b, "name", str),
                arguments=optional(b, "input", dict, {}),
            )
            for b in blocks
            if b.get("type") == "tool_use"
        ]
        return [assistant_message("\n".join(said), calls)]
    if role == "system":
        return [ChatMessageSystem(content=join_content(_parts(blocks, notes)))]
    if role != "user":
        raise Refusal(400, f"messages: {role[:100]!r} is not a role")
    out: list[ChatMessage] = []
    spoken: list[dict[str, Any]] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            failed = optional(block, "is_error", bool, False)
            given = join_content(_parts(block.get("content"), notes)) or ("it failed" if failed else "")
            out.append(tool_result_message(read_required(block, "tool_use_id", str), given, failed=failed))
        else:
            spoken.append(block)
    return [*out, ChatMessageUser(content=join_content(_parts(spoken, notes)))] if spoken or not out else out


def _parts(value: Any, notes: list[str]) -> list[Content]:
    if value is None or isinstance(value, str):
        return [ContentText(text=value or "")]
    out: list[Content] = []
    for part in read_rows({"content": value}, "content"):
        notes += unused_settings(part, PART, within="content.")
        if part.get("type") == "text":
            out.append(ContentText(text=optional(part, "text", str, "")))
        elif part.get("type") == "image":
            out.append(read_picture(_source(part)))
        elif part.get("type") == "document":
            source = read_required(part, "source", dict)
            if source.get("type") in ("text", "content"):
                out += _parts(source.get("data" if source["type"] == "text" else "content"), notes)
            else:
                out.append(read_media(_source(part), optional(part, "title", str, "")))
        else:
            raise Refusal(400, f"content of type {str(part.get('type'))[:100]!r} is not supported")
    return out


def _source(part: dict[str, Any]) -> str:
    """Return a picture or document as a data URI. Return "" if the request gives only its web address."""
    source = read_required(part, "source", dict)
    kind, data = optional(source, "media_type", str, ""), optional(source, "data", str, "")
    return f"data:{kind};base64,{data}" if source.get("type") == "base64" else ""


def _blocks(output: ModelOutput) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for thought in reasoning_parts(output):
        if not thought.redacted and thought.signature:
            blocks.append({"type": "thinking", "thinking": thought.reasoning, "signature": thought.signature})
    if output.message.text or not output.message.tool_calls:
        blocks.append({"type": "text", "text": output.message.text})
    for call in output.message.tool_calls or ():
        blocks.append({"type": "tool_use", "id": call.id, "name": call.function, "input": call.arguments})
    return blocks


def answer(output: ModelOutput, asked: ModelRequest) -> dict[str, Any]:
    """Return a model's output as the body of a Messages response."""
    prompt, answered, cached, written, _ = token_counts(output)
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


def stream(output: ModelOutput, asked: ModelRequest) -> Iterator[bytes]:
    """Yield a model's output as the server-sent events of the Messages API."""
    whole = answer(output, asked)

    def write_event(kind: str, **rest: Any) -> bytes:
        return format_event({"type": kind, **rest}, kind)

    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 0}}
    yield write_event("message_start", message=begun)
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
        yield write_event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield write_event("content_block_delta", index=index, delta=delta)
        yield write_event("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield write_event("message_delta", delta=ended, usage=whole["usage"])
    yield write_event("message_stop")


def fault(status: int, message: str, kind: str) -> dict[str, Any]:
    """Return an error as the body of an Anthropic error response."""
    named = KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": named, "message": message}}


DIALECT = Dialect("anthropic", read, answer, stream, fault)
