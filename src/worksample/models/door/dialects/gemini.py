"""Google's generateContent. The model stands in the path; calls have names and no ids, so that ids are counted here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

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

FINISH = {"max_tokens": "MAX_TOKENS", "content_filter": "SAFETY"}
KINDS = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED"}


def read(body: dict[str, Any], path: str) -> Asked:
    """See Dialect."""
    name, _, verb = unquote(path.partition("/models/")[2]).partition(":")
    turns = rows(body, "contents")
    if not turns:
        raise Refusal(400, "contents is missing or empty")
    messages: list[ChatMessage] = []
    system = _either(body, "systemInstruction", dict)
    if system:
        messages.append(ChatMessageSystem(content=_text(_parts(system))))
    waiting: list[tuple[str, str]] = []
    for turn in turns:
        messages += _turn(turn, waiting, len(messages))
    functions = [f for t in rows(body, "tools") for f in _either(t, "functionDeclarations", list) or ()]
    config = _either(body, "generationConfig", dict) or {}
    return Asked(
        model=name,
        messages=messages,
        tools=[
            tool(
                need(f, "name", str),
                take(f, "description", str),
                _schema(f.get("parametersJsonSchema") or f.get("parameters")),
            )
            for f in functions
        ],
        choice=_choice(body),
        config=GenerateConfig(
            max_tokens=take(config, "maxOutputTokens", int),
            temperature=take(config, "temperature", float),
            top_p=take(config, "topP", float),
            top_k=take(config, "topK", int),
            stop_seqs=take(config, "stopSequences", list),
        ),
        stream=verb == "streamGenerateContent",
    )


def _either(body: dict[str, Any], key: str, kind: type) -> Any:
    """Google takes both spellings."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
    return take(body, key, kind) if key in body else take(body, snake, kind)


def _parameters(function: dict[str, Any]) -> Any:
    return function.get("parametersJsonSchema") or function.get("parameters_json_schema") or function.get("parameters")


def _schema(node: Any) -> Any:
    """Types are written in capitals in Google's schemas, and "may be null" is a flag."""
    if isinstance(node, list):
        return [_schema(one) for one in node]
    if not isinstance(node, dict):
        return node
    out = {key: _schema(value) for key, value in node.items() if key != "nullable"}
    if isinstance(out.get("type"), str):
        out["type"] = out["type"].lower()
    return out


def _choice(body: dict[str, Any]) -> ToolChoice | None:
    calling = _either(_either(body, "toolConfig", dict) or {}, "functionCallingConfig", dict) or {}
    names = _either(calling, "allowedFunctionNames", list) or []
    mode = str(calling.get("mode", "")).upper()
    if mode == "ANY" and len(names) == 1:
        return ToolFunction(name=str(names[0]))
    plain: dict[str, ToolChoice] = {"NONE": "none", "AUTO": "auto", "ANY": "any"}
    return plain.get(mode)


def _parts(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return rows(turn, "parts")


def _text(parts: list[dict[str, Any]]) -> str:
    return "\n".join(take(p, "text", str, "") for p in parts if "text" in p and not p.get("thought"))


def _turn(turn: dict[str, Any], waiting: list[tuple[str, str]], number: int) -> list[ChatMessage]:
    """waiting: (id, function) of calls that have no result yet."""
    parts = _parts(turn)
    if take(turn, "role", str, "user") == "model":
        calls = []
        for index, part in enumerate(parts):
            call = _either(part, "functionCall", dict)
            if call:
                name, id = need(call, "name", str), take(call, "id", str) or f"call_{number}_{index}"
                calls.append(ToolCall(id=id, function=name, arguments=take(call, "args", dict, {})))
                waiting.append((id, name))
        return [assistant(_text(parts), calls)]
    out: list[ChatMessage] = []
    rest: list[Content] = []
    for part in parts:
        given = _either(part, "functionResponse", dict)
        data = _either(part, "inlineData", dict)
        if given:
            out.append(_result(given, waiting))
        elif data:
            kind = _either(data, "mimeType", str) or ""
            if not kind.startswith("image/"):
                raise Refusal(400, f"data of type {kind!r} is not taken here")
            rest.append(picture(f"data:{kind};base64,{take(data, 'data', str, '')}"))
        elif "text" in part:
            rest.append(ContentText(text=take(part, "text", str, "")))
        else:
            raise Refusal(400, f"a part with {', '.join(map(str, part)) or 'nothing'} is not taken here")
    return [*out, ChatMessageUser(content=content(rest))] if rest or not out else out


def _result(given: dict[str, Any], waiting: list[tuple[str, str]]) -> ChatMessage:
    import json

    name, id = need(given, "name", str), take(given, "id", str)
    found = next((one for one in waiting if one[0] == id or (id is None and one[1] == name)), None)
    if found is None:
        raise Refusal(400, f"a result of {name}, which was not called")
    waiting.remove(found)
    value = given.get("response")
    text = value.get("output", value.get("result")) if isinstance(value, dict) else value
    return result(found[0], text if isinstance(text, str) else json.dumps(value), name)


def answer(output: ModelOutput, asked: Asked) -> dict[str, Any]:
    """See Dialect."""
    prompt, answered, cached, _, reasoning = counts(output)
    parts: list[dict[str, Any]] = [
        {"text": t.summary or t.reasoning, "thought": True} for t in thoughts(output) if not t.redacted
    ]
    calls = output.message.tool_calls or ()
    parts += [{"text": output.message.text}] if output.message.text or not calls else []
    parts += [{"functionCall": {"id": c.id, "name": c.function, "args": c.arguments}} for c in calls]
    finish = FINISH.get(output.stop_reason, "STOP")
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": finish}],
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


def stream(output: ModelOutput, asked: Asked) -> Iterator[bytes]:
    """See Dialect: one piece, which is all there is."""
    yield event(answer(output, asked))


def fault(status: int, message: str, kind: str) -> dict[str, Any]:
    """See Dialect."""
    named = KINDS.get(status, "UNAVAILABLE" if status >= 500 else "FAILED_PRECONDITION")
    return {"error": {"code": status, "message": message, "status": named}}


DIALECT = Dialect("gemini", read, answer, stream, fault)
