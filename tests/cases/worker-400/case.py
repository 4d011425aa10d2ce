"""A service that refuses what a tool printed: the trial of a worker ended ungraded."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall

from openai_server import Answer, says, serving
from openai_server.faults import reply
from worksample.agents.rejected import Rejections
from worksample.models import Service, resolve

REFUSED = reply(400, {"error": {"message": "You uploaded an unsupported image", "code": "invalid_image_format"}})


def check(room: Path, request: Any) -> None:
    """The result is left out, and the work goes on."""
    warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine's
    asyncio.run(_asked())


def _choose(asked: dict[str, Any], count: int) -> Answer:
    told = any("TRIGGER" in json.dumps(m) for m in asked["messages"] if m["role"] == "tool")
    return REFUSED if told else says("ok")


async def _asked() -> None:
    with serving(_choose) as served:
        model = resolve("openai-api/local/model-1", Service(args=served.args, retries=0))
        call = ToolCall(id="c1", function="bash", arguments={"command": 'echo TRIG""GER'})
        tool = ChatMessageTool(content="TRIGGER", tool_call_id="c1", function="bash")
        messages = [ChatMessageUser(content="go"), ChatMessageAssistant(content="", tool_calls=[call]), tool]
        output = await Rejections(model, answered=True).ask(messages, lambda: model.generate(messages))
        assert output.completion == "ok"
        assert "was left out" in str(tool.content)
