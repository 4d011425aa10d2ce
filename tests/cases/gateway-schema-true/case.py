"""`true` is a JSON schema: the parameter may be anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from worksample.models.gateway.dialects import openai_chat


def check(room: Path, request: Any) -> None:
    """The tool is shown with its parameter."""
    body = json.loads(Path(__file__).with_name("request.json").read_text(encoding="utf-8"))
    [tool] = openai_chat.DIALECT.read(body, "/").tools
    assert tool.parameters.properties["c"].model_dump(exclude_none=True) == {}
