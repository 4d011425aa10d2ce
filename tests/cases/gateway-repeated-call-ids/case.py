"""A service repeats the id of its calls in each answer: an earlier call was replaced by a later one."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

from models.test_gateway import gateway_of, raw, request
from openai_server.faults import reply

ANSWERS = Path(__file__).with_name("service.jsonl").read_text(encoding="utf-8").splitlines()


def check(room: Path, request: Any) -> None:
    """The history reaches the service as the program sent it, also where the program edits it."""
    warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine's
    asyncio.run(_asked())


async def _asked() -> None:
    async with gateway_of([reply(200, json.loads(line)) for line in ANSWERS]) as (_, port, served):
        tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
        messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        for number in range(3):
            answer = await raw(port, request({"model": "model-1", "messages": messages, "tools": tools}))
            message = json.loads(answer.partition(b"\r\n\r\n")[2])["choices"][0]["message"]
            messages.append(message)
            for call in message.get("tool_calls") or ():
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result {number}"})
        assert _calls(served.requests[2]) == ["ls first", "rm second"]
        messages[1]["tool_calls"][0]["function"]["arguments"] = '{"command": "[shortened]"}'
        await raw(port, request({"model": "model-1", "messages": messages, "tools": tools}))
        assert _calls(served.requests[3]) == ["[shortened]", "rm second"]


def _calls(asked: dict[str, Any]) -> list[str]:
    calls = [call for one in asked["messages"] for call in one.get("tool_calls") or ()]
    return [json.loads(call["function"]["arguments"])["command"] for call in calls]
