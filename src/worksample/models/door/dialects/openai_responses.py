"""OpenAI's responses. State is the program's: nothing is stored, so each request holds the whole conversation."""

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
from worksample.models.door.events import counts, event, thoughts

from . import Dialect
from .openai_chat import choice, fault

TEXTS = ("input_text", "output_text", "text", "summary_text")
_FREE = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def read(body: dict[str, Any], path: str) -> Asked:
    """See Dialect."""
    if take(body, "previous_response_id", str):
        raise Refusal(400, "previous_response_id: nothing is stored here; send the whole conversation")
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else rows(body, "input")
    instructions = take(body, "instructions", str)
    messages: list[ChatMessage] = [ChatMessageSystem(content=instructions)] if instructions else []
    for item in items:
        _add(messages, item)
    if not items:
        raise Refusal(400, "input is missing or empty")
    return Asked(
        model=need(body, "model", str),
        messages=messages,
        tools=[made for _, row in _offered(body) if (made := _tool(row)) is not None],
        choice=choice(body.get("tool_choice")),
        config=GenerateConfig(
            max_tokens=take(body, "max_output_tokens", int),
            temperature=take(body, "temperature", float),
            top_p=take(body, "top_p", float),
        ),
        stream=take(body, "stream", bool, False),
        free=frozenset(need(row, "name", str) for _, row in _offered(body) if row.get("type") == "custom"),
        spaces={need(row, "name", str): space for space, row in _offered(body) if space},
    )


def _offered(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every tool with its namespace, or "". Other providers' models know none: there a tool is `NAMESPACE__NAME`."""
    out: list[tuple[str, dict[str, Any]]] = []
    for row in rows(body, "tools"):
        if row.get("type") == "namespace":
            space = need(row, "name", str)
            out += [(space, {**one, "name": _flat(space, need(one, "name", str))}) for one in rows(row, "tools")]
        else:
            out.append(("", row))
    return out


def _flat(space: str, name: str) -> str:
    return f"{space}__{name}" if space else name


def _tool(row: dict[str, Any]) -> ToolInfo | None:
    """Tools that the provider's own servers would run (search, code) are withheld: nothing here runs them."""
    if row.get("type") == "function":
        return tool(need(row, "name", str), take(row, "description", str), row.get("parameters"))
    if row.get("type") == "custom":
        form = take(take(row, "format", dict, {}), "definition", str, "")
        about = take(row, "description", str, "") + (f"\n\nThe input's grammar:\n{form}" if form else "")
        return tool(need(row, "name", str), about, _FREE)
    return None


def _add(messages: list[ChatMessage], item: dict[str, Any]) -> None:
    """One item of the conversation; what the model said and called in one answer is one message."""
    kind = take(item, "type", str, "message")
    if kind == "message":
        role, parts = need(item, "role", str), _parts(item.get("content"))
        if role == "assistant":
            _join(messages, "\n".join(p.text for p in parts if isinstance(p, ContentText)), [])
        elif role in ("system", "developer"):
            messages.append(ChatMessageSystem(content=content(parts)))
        elif role == "user":
            messages.append(ChatMessageUser(content=content(parts)))
        else:
            raise Refusal(400, f"input: {role!r} is no role")
    elif kind in ("function_call", "custom_tool_call"):
        free = kind == "custom_tool_call"
        given = {"input": take(item, "input", str, "")} if free else arguments(take(item, "arguments", str, ""))
        name = _flat(take(item, "namespace", str, ""), need(item, "name", str))
        call = ToolCall(id=need(item, "call_id", str), function=name, arguments=given)
        _join(messages, "", [call])
    elif kind in ("function_call_output", "custom_tool_call_output"):
        messages.append(result(need(item, "call_id", str), content(_parts(item.get("output")))))
    elif kind != "reasoning":  # which the door remembers itself
        raise Refusal(400, f"input of type {kind!r} is not taken here")


def _join(messages: list[ChatMessage], text: str, calls: list[ToolCall]) -> None:
    last = messages[-1] if messages else None
    if isinstance(last, ChatMessageAssistant) and not (text and last.tool_calls):
        messages[-1] = assistant("\n".join(filter(None, (last.text, text))), [*(last.tool_calls or ()), *calls])
    else:
        messages.append(assistant(text, calls))


def _parts(value: Any) -> list[Content]:
    if value is None or isinstance(value, str):
        return [ContentText(text=value or "")]
    out: list[Content] = []
    for part in rows({"content": value}, "content"):
        if part.get("type") in TEXTS:
            out.append(ContentText(text=take(part, "text", str, "")))
        elif part.get("type") == "refusal":
            out.append(ContentText(text=take(part, "refusal", str, "")))
        elif part.get("type") == "input_image":
            out.append(picture(need(part, "image_url", str)))
        else:
            raise Refusal(400, f"content of type {part.get('type')!r} is not taken here")
    return out


def _items(output: ModelOutput, asked: Asked) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    id = output.message.id
    for index, thought in enumerate(thoughts(output)):
        said = thought.summary or ("" if thought.redacted else thought.reasoning)
        summary = [{"type": "summary_text", "text": said}] if said else []
        items.append({"type": "reasoning", "id": f"rs_{id}_{index}", "summary": summary})
    if output.message.text or not output.message.tool_calls:
        text = {"type": "output_text", "text": output.message.text, "annotations": [], "logprobs": []}
        head = {"type": "message", "id": f"msg_{id}", "status": "completed", "role": "assistant"}
        items.append({**head, "content": [text]})
    for call in output.message.tool_calls or ():
        space = asked.spaces.get(call.function, "")
        name = call.function.removeprefix(_flat(space, "")) if space else call.function
        head = {"call_id": call.id, "name": name, "status": "completed", **({"namespace": space} if space else {})}
        if call.function in asked.free:
            given = call.arguments.get("input", "")
            said = given if isinstance(given, str) else json.dumps(given)
            items.append({"type": "custom_tool_call", "id": f"ctc_{call.id}", **head, "input": said})
        else:
            items.append(
                {"type": "function_call", "id": f"fc_{call.id}", **head, "arguments": json.dumps(call.arguments)}
            )
    return items


def answer(output: ModelOutput, asked: Asked) -> dict[str, Any]:
    """See Dialect."""
    prompt, answered, cached, _, reasoning = counts(output)
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
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": prompt + answered,
        },
    }


def stream(output: ModelOutput, asked: Asked) -> Iterator[bytes]:
    """See Dialect."""
    whole = answer(output, asked)
    number = 0

    def told(kind: str, **rest: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number - 1, **rest}, kind)

    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield told("response.created", response=begun)
    yield told("response.in_progress", response=begun)
    for index, item in enumerate(whole["output"]):
        at = {"output_index": index}
        empty: dict[str, dict[str, Any]] = {
            "message": {"content": []},
            "function_call": {"arguments": ""},
            "custom_tool_call": {"input": ""},
        }
        shell = {**item, "status": "in_progress", **empty.get(item["type"], {})}
        yield told("response.output_item.added", **at, item=shell)
        yield from _deltas(told, item, at)
        yield told("response.output_item.done", **at, item=item)
    yield told("response.incomplete" if whole["incomplete_details"] else "response.completed", response=whole)


def _deltas(told: Any, item: dict[str, Any], at: dict[str, Any]) -> Iterator[bytes]:
    at = {**at, "item_id": item["id"]}
    if item["type"] == "message":
        part, place = item["content"][0], {**at, "content_index": 0}
        yield told("response.content_part.added", **place, part={**part, "text": ""})
        yield told("response.output_text.delta", **place, delta=part["text"], logprobs=[])
        yield told("response.output_text.done", **place, text=part["text"], logprobs=[])
        yield told("response.content_part.done", **place, part=part)
    elif item["type"] == "function_call":
        yield told("response.function_call_arguments.delta", **at, delta=item["arguments"])
        yield told("response.function_call_arguments.done", **at, arguments=item["arguments"], name=item["name"])
    elif item["type"] == "custom_tool_call":
        yield told("response.custom_tool_call_input.delta", **at, delta=item["input"])
        yield told("response.custom_tool_call_input.done", **at, input=item["input"])


DIALECT = Dialect("openai-responses", read, answer, stream, fault)
