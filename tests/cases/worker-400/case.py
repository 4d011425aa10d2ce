"""A service that refuses what a tool printed: the trial of a worker ended ungraded."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall

from openai_server import Answer, says, serving
from openai_server.faults import reply
from worksample.agents.rejected_tool_results import ROW, Rejections
from worksample.errors import AgentError, Cause
from worksample.models import ModelService, resolve

REFUSED = reply(400, {"error": {"message": "You uploaded an unsupported image", "code": "invalid_image_format"}})


def check(room: Path, request: Any) -> None:
    """The result is left out, and the work goes on; an agent that brings such results again and again is at its end."""
    warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine's
    asyncio.run(_asked())
    asyncio.run(_asked_again_and_again())


def _choose(asked: dict[str, Any], count: int) -> Answer:
    told = any("TRIGGER" in json.dumps(m) for m in asked["messages"] if m["role"] == "tool")
    return REFUSED if told else says("ok")


async def _asked() -> None:
    with serving(_choose) as served:
        model = resolve("openai-api/local/model-1", ModelService(args=served.args, retries=0))
        call = ToolCall(id="c1", function="bash", arguments={"command": 'echo TRIG""GER'})
        tool = ChatMessageTool(content="TRIGGER", tool_call_id="c1", function="bash")
        messages = [ChatMessageUser(content="go"), ChatMessageAssistant(content="", tool_calls=[call]), tool]
        output = await Rejections(model, answered=True).ask(messages, lambda: model.generate(messages))
        assert output.completion == "ok"
        assert "was left out" in str(tool.content)


async def _asked_again_and_again() -> None:
    with serving(_choose) as served:
        model = resolve("openai-api/local/model-1", ModelService(args=served.args, retries=0))
        asking = Rejections(model, answered=True)
        messages: list[Any] = [ChatMessageUser(content="go")]

        async def turn(number: int, printed: str) -> None:
            call = ToolCall(id=f"c{number}", function="bash", arguments={"command": "./work"})
            messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
            messages.append(ChatMessageTool(content=printed, tool_call_id=call.id, function="bash"))
            await asking.ask(messages, lambda: model.generate(messages))

        for number in range(2 * ROW + 1):
            await turn(number, "fine" if number == ROW else "TRIGGER")
        with pytest.raises(AgentError, match=r"11 times in a row: .*unsupported image") as ended:
            await turn(2 * ROW + 1, "TRIGGER")
        assert ended.value.cause is Cause.AGENT_REJECTED
