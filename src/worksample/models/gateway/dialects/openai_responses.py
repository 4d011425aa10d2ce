"""The dialect of OpenAI's responses API. The gateway stores no responses, so each request must contain the whole
conversation.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo

from worksample.models.gateway.request import (
    EFFORTS,
    ModelRequest,
    Refusal,
    any_object,
    assistant_message,
    build_tool,
    join_content,
    optional,
    parse_arguments,
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
from .openai_chat import choice, fault, free_tool, named_schema, with_detail

TEXTS = ("input_text", "output_text", "text", "summary_text")
TAKEN = (
    "model", "input", "instructions", "tools", "tool_choice", "max_output_tokens", "temperature", "top_p",
    "parallel_tool_calls", "reasoning", "text", "include", "top_logprobs", "stream",
)  # fmt: skip
REFUSED = {
    "previous_response_id": None, "conversation": None, "prompt": None, "background": False, "image": None
}  # fmt: skip
ITEM = (
    "type", "role", "content", "id", "status", "call_id", "name", "namespace", "arguments", "input", "output",
    "summary", "encrypted_content",
)  # fmt: skip
PART = ("type", "text", "refusal", "image_url", "detail", "file_data", "filename", "annotations", "logprobs")
KNOWN = frozenset({"message.output_text.logprobs", "reasoning.encrypted_content"})
"""Accepted values of the setting `include`. The gateway returns log probabilities; encrypted reasoning has no effect,
because the gateway remembers reasoning itself.
"""


def read(body: dict[str, Any], path: str) -> ModelRequest:
    """Parse a responses request into a `ModelRequest`. Raises Refusal if the request is invalid."""
    if optional(body, "previous_response_id", str):
        raise Refusal(400, "previous_response_id: this gateway stores no responses; send the whole conversation")
    notes = unused_settings(body, TAKEN, REFUSED)
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else read_rows(body, "input")
    instructions = optional(body, "instructions", str)
    messages: list[ChatMessage] = [ChatMessageSystem(content=instructions)] if instructions else []
    for item in items:
        _add(messages, item, notes)
    if not items:
        raise Refusal(400, "input is missing or empty")
    offered = _list_tools(body)
    chosen, only = choice(body.get("tool_choice"), notes)
    wanted = read_texts(body, "include") or []
    notes += [f"include: {one}" for one in wanted if one not in KNOWN]
    return ModelRequest(
        model=read_required(body, "model", str),
        messages=messages,
        tools=[made for _, row in offered if (made := _tool(row, notes)) is not None],
        choice=chosen,
        config=GenerateConfig(
            max_tokens=read_count(body, "max_output_tokens", 1),
            temperature=optional(body, "temperature", float),
            top_p=optional(body, "top_p", float),
            parallel_tool_calls=optional(body, "parallel_tool_calls", bool),
            logprobs=True if "message.output_text.logprobs" in wanted or body.get("top_logprobs") else None,
            top_logprobs=read_count(body, "top_logprobs", 0, 20),
            **_reasoning(optional(body, "reasoning", dict, {}), notes),
            **_text(optional(body, "text", dict, {}), notes),
        ),
        stream=optional(body, "stream", bool, False),
        free_text_tools=frozenset(read_required(row, "name", str) for _, row in offered if row.get("type") == "custom"),
        spaces={read_required(row, "name", str): space for space, row in offered if space},
        ignored_settings=notes,
    ).keep_tools(only)


def _reasoning(given: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    notes += unused_settings(given, ("effort", "summary", "generate_summary", "mode"), within="reasoning.")
    key = "summary" if given.get("summary") is not None else "generate_summary"
    return {
        "reasoning_effort": read_word(given, "effort", EFFORTS),
        "reasoning_summary": read_word(given, key, ("none", "concise", "detailed", "auto")),
        "reasoning_mode": read_word(given, "mode", ("standard", "pro")),
    }


def _text(given: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    notes += unused_settings(given, ("format", "verbosity"), within="text.")
    form = optional(given, "format", dict, {})
    kind = read_word(form, "type", ("text", "json_object", "json_schema"))
    schema = any_object() if kind == "json_object" else None
    if kind == "json_schema":
        schema = named_schema(form, "text.format.", notes)
    return {"response_schema": schema, "verbosity": read_word(given, "verbosity", ("low", "medium", "high"))}


def _list_tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return every tool together with its namespace ("" if the tool has no namespace).

    Other providers have no namespaces, so a model sees such a tool under the name `NAMESPACE__NAME`.
    """
    out: list[tuple[str, dict[str, Any]]] = []
    for row in read_rows(body, "tools"):
        if row.get("type") == "namespace":
            space = read_required(row, "name", str)
            out += [
                (space, {**one, "name": _flat(space, read_required(one, "name", str))})
                for one in read_rows(row, "tools")
            ]
        else:
            out.append(("", row))
    return out


def _flat(space: str, name: str) -> str:
    return f"{space}__{name}" if space else name


def _tool(row: dict[str, Any], notes: list[str]) -> ToolInfo | None:
    """Return a tool of the request. Return None for a tool that runs on the provider's servers (search, code), and add
    its name to `notes`.
    """
    kind = read_required(row, "type", str)
    if kind == "function":
        notes += unused_settings(row, ("type", "name", "description", "parameters"), within="tools.")
        return build_tool(read_required(row, "name", str), optional(row, "description", str), row.get("parameters"))
    if kind == "custom":
        return free_tool(row, optional(optional(row, "format", dict, {}), "definition", str, ""), notes)
    notes.append(f"tools: {kind}")
    return None


def _add(messages: list[ChatMessage], item: dict[str, Any], notes: list[str]) -> None:
    """Add one item of the conversation to `messages`. All items that belong to the same answer of the model become one
    message.
    """
    kind = optional(item, "type", str, "message")
    notes += unused_settings(item, ITEM, within="input.")
    if kind == "message":
        role, parts = read_required(item, "role", str), _parts(item.get("content"), notes)
        if role == "assistant":
            _join(messages, "\n".join(p.text for p in parts if isinstance(p, ContentText)), [])
        elif role in ("system", "developer"):
            messages.append(ChatMessageSystem(content=join_content(parts)))
        elif role == "user":
            messages.append(ChatMessageUser(content=join_content(parts)))
        else:
            raise Refusal(400, f"input: {role[:100]!r} is not a role")
    elif kind in ("function_call", "custom_tool_call"):
        free = kind == "custom_tool_call"
        given = (
            {"input": optional(item, "input", str, "")}
            if free
            else parse_arguments(optional(item, "arguments", str, ""))
        )
        name = _flat(optional(item, "namespace", str, ""), read_required(item, "name", str))
        call = ToolCall(id=read_required(item, "call_id", str), function=name, arguments=given)
        _join(messages, "", [call])
    elif kind in ("function_call_output", "custom_tool_call_output"):
        messages.append(
            tool_result_message(read_required(item, "call_id", str), join_content(_parts(item.get("output"), notes)))
        )
    elif kind != "reasoning":  # the gateway restores reasoning from its memory
        raise Refusal(400, f"input of type {kind[:100]!r} is not supported")


def _join(messages: list[ChatMessage], text: str, calls: list[ToolCall]) -> None:
    last = messages[-1] if messages else None
    if isinstance(last, ChatMessageAssistant) and not (text and last.tool_calls):
        messages[-1] = assistant_message("\n".join(filter(None, (last.text, text))), [*(last.tool_calls or ()), *calls])
    else:
        messages.append(assistant_message(text, calls))


def _parts(value: Any, notes: list[str]) -> list[Content]:
    if value is None or isinstance(value, str):
        return [ContentText(text=value or "")]
    out: list[Content] = []
    for part in read_rows({"content": value}, "content"):
        notes += unused_settings(part, PART, within="content.")
        if part.get("type") in TEXTS:
            out.append(ContentText(text=optional(part, "text", str, "")))
        elif part.get("type") == "refusal":
            out.append(ContentText(text=optional(part, "refusal", str, "")))
        elif part.get("type") == "input_image":
            out.append(with_detail(read_picture(read_required(part, "image_url", str)), optional(part, "detail", str)))
        elif part.get("type") == "input_file" and "file_data" in part:
            out.append(read_media(read_required(part, "file_data", str), optional(part, "filename", str, "")))
        else:
            raise Refusal(400, f"content of type {str(part.get('type'))[:100]!r} is not supported")
    return out


def _items(output: ModelOutput, asked: ModelRequest) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    id = output.message.id
    for index, thought in enumerate(reasoning_parts(output)):
        said = thought.summary or ("" if thought.redacted else thought.reasoning)
        summary = [{"type": "summary_text", "text": said}] if said else []
        items.append({"type": "reasoning", "id": f"rs_{id}_{index}", "summary": summary})
    if output.message.text or not output.message.tool_calls:
        text = {"type": "output_text", "text": output.message.text, "annotations": [], "logprobs": _logprobs(output)}
        head = {"type": "message", "id": f"msg_{id}", "status": "completed", "role": "assistant"}
        items.append({**head, "content": [text]})
    for call in output.message.tool_calls or ():
        space = asked.spaces.get(call.function, "")
        name = call.function.removeprefix(_flat(space, "")) if space else call.function
        head = {"call_id": call.id, "name": name, "status": "completed", **({"namespace": space} if space else {})}
        if call.function in asked.free_text_tools:
            given = call.arguments.get("input", "")
            said = given if isinstance(given, str) else json.dumps(given)
            items.append({"type": "custom_tool_call", "id": f"ctc_{call.id}", **head, "input": said})
        else:
            items.append(
                {"type": "function_call", "id": f"fc_{call.id}", **head, "arguments": json.dumps(call.arguments)}
            )
    return items


def _logprobs(output: ModelOutput) -> list[dict[str, Any]]:
    told = output.choices[0].logprobs if output.choices else None
    return told.model_dump()["content"] if told is not None else []


def answer(output: ModelOutput, asked: ModelRequest) -> dict[str, Any]:
    """Return a model's output as the body of a responses response."""
    prompt, answered, cached, _, reasoning = token_counts(output)
    cut = {"max_tokens": "max_output_tokens", "content_filter": "content_filter"}.get(output.stop_reason)
    return {
        "id": f"resp_{output.message.id}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "instructions": None,
        "metadata": {},
        "model": asked.model,
        "output": _items(output, asked),
        "parallel_tool_calls": asked.config.parallel_tool_calls is not False,
        "temperature": asked.config.temperature,
        "tool_choice": "auto",
        "tools": [],
        "top_p": asked.config.top_p,
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": prompt + answered,
        },
    }


def stream(output: ModelOutput, asked: ModelRequest) -> Iterator[bytes]:
    """Yield a model's output as the server-sent events of the responses API."""
    whole = answer(output, asked)
    number = 0

    def next_event(kind: str, **rest: Any) -> bytes:
        nonlocal number
        number += 1
        return format_event({"type": kind, "sequence_number": number - 1, **rest}, kind)

    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield next_event("response.created", response=begun)
    yield next_event("response.in_progress", response=begun)
    for index, item in enumerate(whole["output"]):
        at = {"output_index": index}
        empty: dict[str, dict[str, Any]] = {
            "message": {"content": []},
            "function_call": {"arguments": ""},
            "custom_tool_call": {"input": ""},
        }
        shell = {**item, "status": "in_progress", **empty.get(item["type"], {})}
        yield next_event("response.output_item.added", **at, item=shell)
        yield from _deltas(next_event, item, at)
        yield next_event("response.output_item.done", **at, item=item)
    yield next_event("response.incomplete" if whole["incomplete_details"] else "response.completed", response=whole)


def _deltas(next_event: Any, item: dict[str, Any], at: dict[str, Any]) -> Iterator[bytes]:
    at = {**at, "item_id": item["id"]}
    if item["type"] == "message":
        part, place = item["content"][0], {**at, "content_index": 0}
        yield next_event("response.content_part.added", **place, part={**part, "text": ""})
        yield next_event("response.output_text.delta", **place, delta=part["text"], logprobs=[])
        yield next_event("response.output_text.done", **place, text=part["text"], logprobs=[])
        yield next_event("response.content_part.done", **place, part=part)
    elif item["type"] == "function_call":
        yield next_event("response.function_call_arguments.delta", **at, delta=item["arguments"])
        yield next_event("response.function_call_arguments.done", **at, arguments=item["arguments"], name=item["name"])
    elif item["type"] == "custom_tool_call":
        yield next_event("response.custom_tool_call_input.delta", **at, delta=item["input"])
        yield next_event("response.custom_tool_call_input.done", **at, input=item["input"])


DIALECT = Dialect("openai-responses", read, answer, stream, fault)
