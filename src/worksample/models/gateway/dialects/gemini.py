"""The dialect of Google's generateContent API.

The path of a request names the model. Tool calls have no ids in this dialect, so this module numbers them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from worksample.models.gateway.request import (
    ModelRequest,
    Refusal,
    answer_schema,
    any_object,
    assistant_message,
    build_tool,
    join_content,
    optional,
    read_count,
    read_media,
    read_required,
    read_rows,
    read_texts,
    tool_result_message,
    unused_settings,
)
from worksample.models.gateway.server_sent_events import format_event, token_counts

from . import Dialect

FINISH = {"max_tokens": "MAX_TOKENS", "content_filter": "SAFETY"}
KINDS = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED"}


BODY = ("model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig")
WITHOUT = {"cachedContent": None}
CONFIG = (
    "candidateCount", "temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "seed", "presencePenalty",
    "frequencyPenalty", "responseLogprobs", "logprobs", "responseMimeType", "responseSchema", "responseJsonSchema",
    "thinkingConfig",
)  # fmt: skip
REFUSED = {
    "responseModalities": ["TEXT"], "speechConfig": None, "imageConfig": None, "translationConfig": None,
    "responseFormat": None,
}  # fmt: skip
EFFORTS = {"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high", "THINKING_LEVEL_UNSPECIFIED": None}
CHOICES = 8
"""Maximum number of answers to one request, as in Google's API."""


def camel(key: str) -> str:
    """Return a key in camel case. Google accepts keys in camel case and in snake case."""
    head, *parts = key.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in parts) if parts and head else key


def _own(value: Any, kind: str = "an object") -> dict[str, Any]:
    """Return an object of Google's API with all its keys in camel case. Raises Refusal if the value is no object."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal(400, f"{kind} is {type(value).__name__}, not an object")
    return {camel(key): one for key, one in value.items()}


def read(body: dict[str, Any], path: str) -> ModelRequest:
    """Parse a generateContent request into a `ModelRequest`. Raises Refusal if the request is invalid."""
    name, _, verb = unquote(path.partition("/models/")[2]).partition(":")
    body = _own(body)
    turns = read_rows(body, "contents")
    if not turns:
        raise Refusal(400, "contents is missing or empty")
    notes = unused_settings(body, BODY, WITHOUT)
    messages: list[ChatMessage] = []
    if system := body.get("systemInstruction"):
        said = system if isinstance(system, str) else _text(_parts(_own(system, "systemInstruction")), notes)
        messages.append(ChatMessageSystem(content=said))
    waiting: list[tuple[str, str]] = []
    for turn in turns:
        messages += _turn(_own(turn), waiting, len(messages), notes)
    chosen, only = _choice(body, notes)
    return ModelRequest(
        model=name,
        messages=messages,
        tools=[tool for row in read_rows(body, "tools") for tool in _tools(_own(row), notes)],
        choice=chosen,
        config=_config(_own(body.get("generationConfig"), "generationConfig"), notes),
        stream=verb == "streamGenerateContent",
        ignored_settings=notes,
    ).keep_tools(only)


def _config(given: dict[str, Any], notes: list[str]) -> GenerateConfig:
    notes += unused_settings(given, CONFIG, REFUSED, within="generationConfig.")
    thinking = _own(given.get("thinkingConfig"), "thinkingConfig")
    notes += unused_settings(thinking, ("thinkingBudget", "thinkingLevel"), within="thinkingConfig.")
    budget = read_count(thinking, "thinkingBudget", -1)
    notes += ["thinkingConfig.thinkingBudget: -1"] if budget == -1 else []
    level = optional(thinking, "thinkingLevel", str)
    if level is not None and level.upper() not in EFFORTS:
        raise Refusal(400, f"thinkingLevel is {level[:100]!r}; it must be one of {', '.join(EFFORTS)}")
    return GenerateConfig(
        max_tokens=read_count(given, "maxOutputTokens", 1),
        temperature=optional(given, "temperature", float),
        top_p=optional(given, "topP", float),
        top_k=read_count(given, "topK", -1),
        stop_seqs=read_texts(given, "stopSequences"),
        num_choices=read_count(given, "candidateCount", 1, CHOICES),
        seed=read_count(given, "seed", -(1 << 31), 1 << 32),
        presence_penalty=optional(given, "presencePenalty", float),
        frequency_penalty=optional(given, "frequencyPenalty", float),
        logprobs=optional(given, "responseLogprobs", bool),
        top_logprobs=read_count(given, "logprobs", 0, 20),
        reasoning_tokens=None if budget == -1 else budget,
        reasoning_effort=EFFORTS[level.upper()] if level else None,  # type: ignore[arg-type]
        response_schema=_format(given),
    )


def _format(given: dict[str, Any]) -> ResponseSchema | None:
    """Return the schema that the answer must follow: from Google's schema or a JSON schema, or any JSON object. Return
    None if the request sets no format.
    """
    kind = optional(given, "responseMimeType", str)
    if kind not in (None, "", "text/plain", "application/json", "text/x.enum"):
        raise Refusal(400, f"responseMimeType is {kind[:100]!r}; only text and JSON are supported")
    for key in ("responseJsonSchema", "responseSchema"):
        if given.get(key) is not None:
            return answer_schema(standard(given[key]) if key == "responseSchema" else standard(given[key], own=False))
    if kind == "text/x.enum":
        raise Refusal(400, "responseMimeType is 'text/x.enum', and responseSchema is missing")
    return any_object() if kind == "application/json" else None


def _tools(row: dict[str, Any], notes: list[str]) -> list[ToolInfo]:
    """Return the tools of the request. Tools that run on Google's servers are left out, and their names are added to
    `notes`.
    """
    notes += [f"tools: {key}" for key, value in row.items() if key != "functionDeclarations" and value is not None]
    out = []
    for declared in map(_own, read_rows(row, "functionDeclarations")):
        notes += unused_settings(
            declared, ("name", "description", "parameters", "parametersJsonSchema"), within="tools."
        )
        foreign = declared.get("parametersJsonSchema")
        schema = standard(declared.get("parameters")) if foreign is None else standard(foreign, own=False)
        out.append(build_tool(read_required(declared, "name", str), optional(declared, "description", str), schema))
    return out


def standard(node: Any, *, own: bool = True) -> Any:
    """Convert Google's schema to a JSON schema: keys in camel case, types in lower case, and standard references.

    `own` is True if the keys follow Google's schema. In a JSON schema, only the types are changed to lower case.
    """
    if isinstance(node, list):
        return [standard(one, own=own) for one in node]
    if not isinstance(node, dict):
        return node
    out: dict[str, Any] = {}
    for name, value in node.items():
        key = _NAMES.get(camel(name), camel(name)) if own else name
        if key in _MAPS and isinstance(value, dict):
            out[key] = {inner: standard(one, own=own) for inner, one in value.items()}
        elif key in _VALUES:
            out[key] = value
        elif key == "type":
            out[key] = _type(value)
        else:
            out[key] = standard(value, own=own)
    return out


_NAMES = {"defs": "$defs", "ref": "$ref"}
_MAPS = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
"""Schema keywords that contain an object with names chosen by the program as its keys."""
_VALUES = frozenset({"default", "example", "examples", "enum", "const", "required", "propertyOrdering"})
"""Schema keywords whose values are data and contain no schema."""


def _type(value: Any) -> Any:
    if isinstance(value, list):
        return [_type(one) for one in value]
    return value.lower() if isinstance(value, str) else value


def _choice(body: dict[str, Any], notes: list[str]) -> tuple[ToolChoice | None, list[str] | None]:
    config = _own(body.get("toolConfig"), "toolConfig")
    notes += unused_settings(config, ("functionCallingConfig",), within="toolConfig.")
    calling = _own(config.get("functionCallingConfig"), "functionCallingConfig")
    notes += unused_settings(calling, ("mode", "allowedFunctionNames"), within="functionCallingConfig.")
    names = read_texts(calling, "allowedFunctionNames") or None
    mode = optional(calling, "mode", str, "MODE_UNSPECIFIED").upper()
    if mode not in _MODES:
        raise Refusal(400, f"mode is {mode[:100]!r}; it must be one of {', '.join(_MODES)}")
    if mode == "ANY" and names and len(names) == 1:
        return ToolFunction(name=names[0]), None
    return _MODES[mode], names


_MODES: dict[str, ToolChoice | None] = {
    "MODE_UNSPECIFIED": None, "NONE": "none", "AUTO": "auto", "ANY": "any", "VALIDATED": "auto"
}  # fmt: skip


def _parts(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return [_own(part) for part in read_rows(turn, "parts")]


def _text(parts: list[dict[str, Any]], notes: list[str]) -> str:
    """Return the text of a turn without reasoning. The gateway restores reasoning from its memory."""
    said = []
    for part in parts:
        if "text" in part:
            said += [] if part.get("thought") is True else [optional(part, "text", str, "")]
        elif "functionCall" not in part:
            notes.append(f"contents.parts: {', '.join(sorted(part))[:80]}")
    return "\n".join(said)


def _turn(turn: dict[str, Any], waiting: list[tuple[str, str]], number: int, notes: list[str]) -> list[ChatMessage]:
    """Return the messages of one turn. `waiting` lists the tool calls that have no result so far, as (id, function)."""
    parts, role = _parts(turn), optional(turn, "role", str, "user")
    if role == "model":
        calls = []
        for index, part in enumerate(parts):
            if part.get("functionCall") is not None:
                call = _own(part["functionCall"], "functionCall")
                name, id = read_required(call, "name", str), optional(call, "id", str) or f"call_{number}_{index}"
                calls.append(ToolCall(id=id, function=name, arguments=optional(call, "args", dict, {})))
                waiting.append((id, name))
        return [assistant_message(_text(parts, notes), calls)]
    if role not in ("user", "function", "tool"):
        raise Refusal(400, f"contents: {role[:100]!r} is not a role")
    out: list[ChatMessage] = []
    spoken: list[Content] = []
    for part in parts:
        if part.get("functionResponse") is not None:
            out.append(_result(_own(part["functionResponse"], "functionResponse"), waiting))
        elif part.get("inlineData") is not None:
            spoken.append(_data(part["inlineData"]))
        elif "text" in part:
            spoken.append(ContentText(text=optional(part, "text", str, "")))
        else:
            raise Refusal(400, f"a part with {', '.join(part)[:200] or 'nothing'} is not supported")
    return [*out, ChatMessageUser(content=join_content(spoken))] if spoken or not out else out


def _data(value: Any) -> Content:
    given = _own(value, "inlineData")
    return read_media(f"data:{optional(given, 'mimeType', str, '')};base64,{optional(given, 'data', str, '')}")


def _result(given: dict[str, Any], waiting: list[tuple[str, str]]) -> ChatMessage:
    name, id = read_required(given, "name", str), optional(given, "id", str)
    found = next((one for one in waiting if one[0] == id or (id is None and one[1] == name)), None)
    if found is None:
        raise Refusal(400, f"the tool result names {name[:100]}, but this tool was not called")
    waiting.remove(found)
    value = given.get("response")
    inner = value.get("output", value.get("result")) if isinstance(value, dict) else value
    whole = isinstance(value, dict) and len(value) > 1
    text = inner if isinstance(inner, str) and not whole else json.dumps(value, ensure_ascii=False)
    failed = isinstance(value, dict) and list(value) == ["error"]
    more = [
        _data(part["inlineData"]) for part in map(_own, read_rows(given, "parts")) if part.get("inlineData") is not None
    ]
    return tool_result_message(found[0], join_content([ContentText(text=text), *more]), name, failed=failed)


def _logprobs(one: ChatCompletionChoice) -> dict[str, Any]:
    if one.logprobs is None:
        return {}
    chosen = [{"token": t.token, "logProbability": t.logprob} for t in one.logprobs.content]
    top = [
        {"candidates": [{"token": t.token, "logProbability": t.logprob} for t in each.top_logprobs or ()]}
        for each in one.logprobs.content
    ]
    return {"logprobsResult": {"chosenCandidates": chosen, "topCandidates": top}}


def _candidate(index: int, one: ChatCompletionChoice) -> dict[str, Any]:
    said = one.message.content
    thoughts = [] if isinstance(said, str) else [part for part in said if isinstance(part, ContentReasoning)]
    parts: list[dict[str, Any]] = [
        {"text": t.summary or t.reasoning, "thought": True} for t in thoughts if not t.redacted
    ]
    calls = one.message.tool_calls or ()
    parts += [{"text": one.message.text}] if one.message.text or not calls else []
    parts += [{"functionCall": {"id": c.id, "name": c.function, "args": c.arguments}} for c in calls]
    finish = FINISH.get(one.stop_reason, "STOP")
    return {"index": index, "content": {"role": "model", "parts": parts}, "finishReason": finish, **_logprobs(one)}


def answer(output: ModelOutput, asked: ModelRequest) -> dict[str, Any]:
    """Return a model's output as the body of a generateContent response."""
    prompt, answered, cached, _, reasoning = token_counts(output)
    return {
        "candidates": [_candidate(index, one) for index, one in enumerate(output.choices)],
        "modelVersion": asked.model,
        "responseId": output.message.id,
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": max(0, answered - reasoning),
            "thoughtsTokenCount": reasoning,
            "cachedContentTokenCount": cached,
            "totalTokenCount": prompt + answered,
        },
    }


def stream(output: ModelOutput, asked: ModelRequest) -> Iterator[bytes]:
    """Yield a model's output as a stream with a single server-sent event."""
    yield format_event(answer(output, asked))


def fault(status: int, message: str, kind: str) -> dict[str, Any]:
    """Return an error as the body of a Google error response."""
    named = KINDS.get(status, "UNAVAILABLE" if status >= 500 else "FAILED_PRECONDITION")
    return {"error": {"code": status, "message": message, "status": named}}


DIALECT = Dialect("gemini", read, answer, stream, fault)
