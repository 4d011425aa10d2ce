"""Three ways to ask and be answered: OpenAI's chat completions and Responses, and Anthropic's messages.

Written from the providers' references, and apart from the gateway's own dialects, which are to be tested.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .answers import Answer

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Dialect:
    """One way of asking: how its tools are named, how an answer reads, how a fault does."""

    tools: Callable[[Mapping[str, Any]], list[dict[str, Any]]]
    """Of a request, in the form of chat completions: what choosers look at."""
    body: Callable[[Answer, int, str], dict[str, Any]]
    fault: Callable[[str, str], dict[str, Any]]
    streamed: Callable[[dict[str, Any]], bytes] | None = None
    """A body as server-sent events, where a request asks for them and this server knows how."""

    def written(self, answer: Answer, number: int, request: Mapping[str, Any]) -> tuple[str, bytes]:
        """Media type and bytes of an answer."""
        body = self.body(answer, number, request.get("model", "?"))
        if self.streamed is not None and request.get("stream"):
            return EVENTS, self.streamed(body)
        return JSON, json.dumps(body).encode()


def _openai_fault(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "code": code, "param": None}}


def _anthropic_fault(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": code, "message": message}, "request_id": "req_1"}


def _function(name: str, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters or {}}}


def _responses_body(answer: Answer, number: int, model: str) -> dict[str, Any]:
    """https://platform.openai.com/docs/api-reference/responses/object"""
    output: list[dict[str, Any]] = []
    if answer.text is not None:
        said = {"type": "output_text", "text": answer.text, "annotations": []}
        output.append(
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [said]}
        )
    for i, call in enumerate(answer.calls):
        plain = call.plain(100 * number + i)
        output.append(
            {"type": "function_call", "id": f"fc_{100 * number + i}", "call_id": plain["id"], "status": "completed"}
            | plain["function"]
        )
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": answer.cached_tokens},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }


def _messages_body(answer: Answer, number: int, model: str) -> dict[str, Any]:
    """https://docs.anthropic.com/en/api/messages; its input tokens are those that came from no cache."""
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text is not None else []
    for i, call in enumerate(answer.calls):
        content.append(
            {"type": "tool_use", "id": f"toolu_{100 * number + i}", "name": call.name, "input": call.arguments}
        )
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.input_tokens - answer.cached_tokens,
            "output_tokens": answer.output_tokens,
            "cache_read_input_tokens": answer.cached_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def _messages_events(body: dict[str, Any]) -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": body | {"content": [], "stop_reason": None}},
    ]
    for i, block in enumerate(body["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": i, "content_block": start})
        events.append({"type": "content_block_delta", "index": i, "delta": delta})
        events.append({"type": "content_block_stop", "index": i})
    ends = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ends, "usage": {"output_tokens": body["usage"]["output_tokens"]}})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


CHAT = Dialect(lambda request: list(request.get("tools", ())), Answer.body, _openai_fault)
RESPONSES = Dialect(
    lambda request: [_function(t["name"], t.get("parameters")) for t in request.get("tools", ()) if "name" in t],
    _responses_body,
    _openai_fault,
)
MESSAGES = Dialect(
    lambda request: [_function(t["name"], t.get("input_schema")) for t in request.get("tools", ()) if "name" in t],
    _messages_body,
    _anthropic_fault,
    _messages_events,
)
ROUTES = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSES, "/v1/messages": MESSAGES}
