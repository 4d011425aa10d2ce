"""Form of the answer, effort, seed, parallel calls and functions were dropped without a word in all four dialects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from worksample.models.gateway.dialects import Dialect, anthropic, gemini, openai_chat, openai_responses

DIALECTS: dict[str, Dialect] = {
    "/v1/chat/completions": openai_chat.DIALECT,
    "/v1/responses": openai_responses.DIALECT,
    "/v1/messages": anthropic.DIALECT,
    "/v1beta/models/m:generateContent": gemini.DIALECT,
}


def check(room: Path, request: Any) -> None:
    """Each setting reaches the model's configuration."""
    for line in Path(__file__).with_name("requests.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        asked = DIALECTS[one["path"]].read(one["body"], one["path"])
        config = asked.config.model_dump(exclude_none=True)
        lost = {key: value for key, value in one["config"].items() if config.get(key) != value}
        assert not lost, (one["path"], lost, config)
        assert ("response_schema" in config) == one["form"], one["path"]
        assert [tool.name for tool in asked.tools] == one["tools"], one["path"]
