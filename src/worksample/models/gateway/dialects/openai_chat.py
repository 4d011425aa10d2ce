"""The dialect of OpenAI's chat completions API."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from worksample.models.gateway.request import (
    EFFORTS,
    ModelRequest,
    Refusal,
    answer_schema,
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
from worksample.models.gateway.server_sent_events import format_event, token_counts

from . import Dialect

FINISH = {"max_tokens": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}
TAKEN = (
    "model", "messages", "tools", "tool_choice", "functions", "function_call", "max_completion_tokens", "max_tokens",
    "temperature", "top_p", "top_k", "stop", "frequency_penalty", "presence_penalty", "logit_bias", "seed", "n",
    "logprobs", "top_logprobs", "parallel_tool_calls", "reasoning_effort", "response_format", "verbosity", "stream",
    "stream_options",
)  # fmt: skip
REFUSED = {"audio": None, "modalities": ["text"], "web_search_options": None}
FREE = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""Schema of the parameters of a tool that accepts free text instead of JSON arguments."""
MESSAGE = ("role", "content", "tool_calls", "tool_call_id", "function_call", "refusal")
PART = ("type", "text", "refusal", "image_url", "input_audio", "file")
CHOICES = 16
"""Maximum number of answers that one request may ask for."""


def read(body: dict[str, Any], path: str) -> ModelRequest:
    """Parse a chat completions request into a `ModelRequest`. Raises Refusal if the request is invalid."""
    messages = read_rows(body, "messages")
    if not messages:
        raise Refusal(400, "messages is missing or empty")
    notes = unused_settings(body, TAKEN, REFUSED)
    options = optional(body, "stream_options", dict, {})
    notes += unused_settings(options, ("include_usage",), within="stream_options.")
    offered = [_read_tool(row, notes) for row in read_rows(body, "tools")]
    offered += [_function(row, notes) for row in read_rows(body, "functions")]
    tools = [made for made in offered if made is not None]
    chosen, only = choice(body.get("tool_choice"), notes)
    legacy = "functions" in body or "function_call" in body
    if legacy and chosen is None:
        chosen = _function_call(body.get("function_call"))
    return ModelRequest(
        model=read_required(body, "model", str),
        messages=_conversation(messages, notes),
        tools=[made for made, _ in tools],
        choice=chosen,
        config=GenerateConfig(
            max_tokens=read_count(body, "max_completion_tokens", 1) or read_count(body, "max_tokens", 1),
            temperature=optional(body, "temperature", float),
            top_p=optional(body, "top_p", float),
            top_k=read_count(body, "top_k", -1),
            stop_seqs=read_texts(body, "stop"),
            frequency_penalty=optional(body, "frequency_penalty", float),
            presence_penalty=optional(body, "presence_penalty", float),
            logit_bias=_bias(optional(body, "logit_bias", dict)),
            seed=read_count(body, "seed", 1 - (1 << 63), (1 << 63) - 1),
            num_choices=read_count(body, "n", 1, CHOICES),
            logprobs=optional(body, "logprobs", bool),
            top_logprobs=read_count(body, "top_logprobs", 0, 20),
            parallel_tool_calls=False if legacy else optional(body, "parallel_tool_calls", bool),
            reasoning_effort=read_word(body, "reasoning_effort", EFFORTS),
            verbosity=read_word(body, "verbosity", ("low", "medium", "high")),
            response_schema=_format(optional(body, "response_format", dict, {}), notes),
        ),
        stream=optional(body, "stream", bool, False),
        reports_usage=optional(options, "include_usage", bool, False),
        free_text_tools=frozenset(made.name for made, free in tools if free),
        legacy=legacy,
        ignored_settings=notes,
    ).keep_tools(only)


def _read_tool(row: dict[str, Any], notes: list[str]) -> tuple[ToolInfo, bool] | None:
    """Return a tool of the request, and whether the tool accepts free text.

    Return None for a tool that runs on the provider's servers, and add its name to `notes`.
    """
    kind = optional(row, "type", str, "function")
    if kind == "function":
        return _function(read_required(row, "function", dict), notes)
    if kind != "custom":
        notes.append(f"tools: {kind}")
        return None
    own = read_required(row, "custom", dict)
    grammar = optional(optional(own, "format", dict, {}), "grammar", dict, {})
    return free_tool(own, optional(grammar, "definition", str, ""), notes), True


def _function(row: dict[str, Any], notes: list[str]) -> tuple[ToolInfo, bool]:
    notes += unused_settings(row, ("name", "description", "parameters"), within="tools.")
    return build_tool(read_required(row, "name", str), optional(row, "description", str), row.get("parameters")), False


def free_tool(row: dict[str, Any], grammar: str, notes: list[str]) -> ToolInfo:
    """Build a tool that accepts free text. The tool's description tells the model which grammar the text must
    follow.
    """
    notes += unused_settings(row, ("type", "name", "description", "format"), within="tools.")
    about = optional(row, "description", str, "") + (f"\n\nThe input's grammar:\n{grammar}" if grammar else "")
    return build_tool(read_required(row, "name", str), about, FREE)


def choice(value: Any, notes: list[str]) -> tuple[ToolChoice | None, list[str] | None]:
    """Return how the model chooses a tool, and the names of the tools to choose from (None if all are allowed).

    The chat and the responses dialects share this function. Raises Refusal if the value is invalid.
    """
    if value is None or isinstance(value, str):
        plain: dict[str, ToolChoice] = {"none": "none", "auto": "auto", "required": "any"}
        if value is not None and value not in plain:
            raise Refusal(400, f"tool_choice is {value[:100]!r}; it must be none, auto or required")
        return (plain[value] if value else None), None
    if not isinstance(value, dict):
        raise Refusal(400, f"tool_choice is {type(value).__name__}, not a word or an object")
    kind = optional(value, "type", str, "function")
    if kind == "allowed_tools":
        inner = optional(value, "allowed_tools", dict, value)
        mode = read_word(inner, "mode", ("auto", "required"))
        return ("any" if mode == "required" else "auto"), [_tool_name(row) for row in read_rows(inner, "tools")]
    if kind in ("function", "custom"):
        return ToolFunction(name=_tool_name(value)), None
    notes.append(f"tool_choice: {kind}")
    return None, None


def _tool_name(row: dict[str, Any]) -> str:
    """Return the name of a tool. The name is one level deeper in the chat API than in the responses API."""
    inner = next((row[key] for key in ("function", "custom") if isinstance(row.get(key), dict)), row)
    return read_required(inner, "name", str)


def _function_call(value: Any) -> ToolChoice | None:
    if isinstance(value, dict):
        return ToolFunction(name=read_required(value, "name", str))
    read_word({"function_call": value}, "function_call", ("none", "auto"))
    return value  # type: ignore[no-any-return]


def _bias(value: dict[str, Any] | None) -> dict[int, float] | None:
    if value is None:
        return None
    if not all(key.isascii() and key.isdigit() and len(key) < 10 for key in value):
        raise Refusal(400, "the keys of logit_bias must be token ids")
    return {int(key): optional(value, key, float, 0.0) for key in value}


def _format(value: dict[str, Any], notes: list[str]) -> ResponseSchema | None:
    kind = read_word(value, "type", ("text", "json_object", "json_schema"))
    if kind != "json_schema":
        return any_object() if kind == "json_object" else None
    return named_schema(read_required(value, "json_schema", dict), "response_format.json_schema.", notes)


def named_schema(row: dict[str, Any], within: str, notes: list[str]) -> ResponseSchema:
    """Build a schema with a name from the form that the chat and the responses dialects share."""
    notes += unused_settings(row, ("type", "name", "description", "schema", "strict"), within=within)
    given = row.get("schema")
    return answer_schema(
        {} if given is None else given,
        optional(row, "name", str),
        optional(row, "description", str),
        optional(row, "strict", bool),
    )


def _conversation(given: list[dict[str, Any]], notes: list[str]) -> list[ChatMessage]:
    """Return the messages of the request. The result of a function (the older form of a tool) has no id, so it is
    assigned to the last call of this function.
    """
    out: list[ChatMessage] = []
    open_calls: list[tuple[str, str]] = []
    for number, row in enumerate(given):
        if row.get("role") == "function":
            name = read_required(row, "name", str)
            called = next((one for one in reversed(open_calls) if one[1] == name), None)
            if called is None:
                raise Refusal(400, f"messages: the tool result names {name[:100]}, but this tool was not called")
            open_calls.remove(called)
            out.append(tool_result_message(called[0], join_content(_parts(row.get("content"), notes)), name))
            continue
        out.append(_message(row, number, notes))
        if isinstance(row.get("function_call"), dict):
            open_calls += [(call.id, call.function) for call in getattr(out[-1], "tool_calls", None) or ()][-1:]
    return out


def _message(row: dict[str, Any], number: int, notes: list[str]) -> ChatMessage:
    role, parts = read_required(row, "role", str), _parts(row.get("content"), notes)
    notes += unused_settings(
        row, ("role", "content", "tool_calls", "tool_call_id", "function_call", "refusal"), within="messages."
    )
    if role in ("system", "developer"):
        return ChatMessageSystem(content=join_content(parts))
    if role == "user":
        return ChatMessageUser(content=join_content(parts))
    if role == "tool":
        return tool_result_message(read_required(row, "tool_call_id", str), join_content(parts))
    if role == "assistant":
        calls = [_call(call) for call in read_rows(row, "tool_calls")]
        before = optional(row, "function_call", dict)
        if before is not None:
            given = parse_arguments(optional(before, "arguments", str, ""))
            calls.append(
                ToolCall(id=f"function_{number}", function=read_required(before, "name", str), arguments=given)
            )
        parts += [ContentText(text=optional(row, "refusal", str, ""))] if row.get("refusal") else []
        return assistant_message("\n".join(p.text for p in parts if isinstance(p, ContentText) and p.text), calls)
    raise Refusal(400, f"messages: {role[:100]!r} is not a role")


def _call(call: dict[str, Any]) -> ToolCall:
    own = optional(call, "custom", dict)
    if own is not None:
        given = {"input": optional(own, "input", str, "")}
        return ToolCall(id=read_required(call, "id", str), function=read_required(own, "name", str), arguments=given)
    function = read_required(call, "function", dict)
    given = parse_arguments(optional(function, "arguments", str, ""))
    return ToolCall(id=read_required(call, "id", str), function=read_required(function, "name", str), arguments=given)


def _parts(value: Any, notes: list[str]) -> list[Content]:
    if value is None or isinstance(value, str):
        return [ContentText(text=value or "")]
    out: list[Content] = []
    for part in read_rows({"content": value}, "content"):
        kind = read_required(part, "type", str)
        notes += unused_settings(part, PART, within="content.")
        if kind in ("text", "refusal"):
            out.append(ContentText(text=optional(part, kind, str, "")))
        elif kind == "image_url":
            image = read_required(part, "image_url", dict)
            out.append(with_detail(read_picture(read_required(image, "url", str)), optional(image, "detail", str)))
        elif kind == "input_audio":
            sound = read_required(part, "input_audio", dict)
            form = read_required(sound, "format", str)
            out.append(read_media(f"data:audio/{form};base64,{read_required(sound, 'data', str)}"))
        elif kind == "file" and isinstance(part.get("file"), dict) and "file_data" in part["file"]:
            out.append(
                read_media(read_required(part["file"], "file_data", str), optional(part["file"], "filename", str, ""))
            )
        else:
            raise Refusal(400, f"content of type {kind[:100]!r} is not supported")
    return out


def with_detail(image: Content, detail: str | None) -> Content:
    """Return a picture with its level of detail set, which decides the resolution at which the model sees it."""
    if isinstance(image, ContentImage) and detail in ("auto", "low", "high", "original"):
        return image.model_copy(update={"detail": detail})
    return image


def _calls(message: ChatMessageAssistant, asked: ModelRequest) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for call in message.tool_calls or ():
        if call.function in asked.free_text_tools:
            given = call.arguments.get("input", "")
            said = given if isinstance(given, str) else json.dumps(given)
            out.append({"id": call.id, "type": "custom", "custom": {"name": call.function, "input": said}})
        else:
            said = json.dumps(call.arguments)
            out.append({"id": call.id, "type": "function", "function": {"name": call.function, "arguments": said}})
    return out


def _usage(output: ModelOutput) -> dict[str, Any]:
    prompt, answered, cached, _, reasoning = token_counts(output)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def _message_of(one: ChatCompletionChoice, asked: ModelRequest) -> tuple[dict[str, Any], str]:
    """Return the message of one choice of a model's output, and the reason why the message ended."""
    calls = _calls(one.message, asked)
    message: dict[str, Any] = {"role": "assistant", "content": one.message.text or None, "refusal": None}
    if calls and asked.legacy:
        return {**message, "function_call": calls[0]["function"]}, "function_call"
    if calls:
        return {**message, "tool_calls": calls}, "tool_calls"
    return message, FINISH.get(one.stop_reason, "stop")


def _logprobs(one: ChatCompletionChoice) -> dict[str, Any] | None:
    return {"content": one.logprobs.model_dump()["content"], "refusal": None} if one.logprobs is not None else None


def answer(output: ModelOutput, asked: ModelRequest) -> dict[str, Any]:
    """Return a model's output as the body of a chat completions response."""
    choices = []
    for index, one in enumerate(output.choices):
        message, finish = _message_of(one, asked)
        choices.append({"index": index, "message": message, "finish_reason": finish, "logprobs": _logprobs(one)})
    return {
        "id": f"chatcmpl-{output.message.id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": choices,
        "usage": _usage(output),
    }


def stream(output: ModelOutput, asked: ModelRequest) -> Iterator[bytes]:
    """Yield a model's output as the server-sent events of the chat completions API."""
    head = {
        "id": f"chatcmpl-{output.message.id}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": asked.model,
    }
    for index, one in enumerate(output.choices):
        message, finish = _message_of(one, asked)
        whole: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
        if message["content"]:
            whole.append(({"content": message["content"]}, None))
        if "function_call" in message:
            whole.append(({"function_call": message["function_call"]}, None))
        whole += [
            ({"tool_calls": [{"index": i, **call}]}, None) for i, call in enumerate(message.get("tool_calls", ()))
        ]
        for delta, ends in [*whole, ({}, finish)]:
            told = _logprobs(one) if delta.get("content") else None
            yield format_event(
                {**head, "choices": [{"index": index, "delta": delta, "finish_reason": ends, "logprobs": told}]}
            )
    if asked.reports_usage:
        yield format_event({**head, "choices": [], "usage": _usage(output)})
    yield format_event("[DONE]")


def fault(status: int, message: str, kind: str) -> dict[str, Any]:
    """Return an error as the body of an OpenAI error response."""
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


DIALECT = Dialect("openai", read, answer, stream, fault)
