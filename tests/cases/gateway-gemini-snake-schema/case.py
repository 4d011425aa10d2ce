"""Google takes both spellings of every name: a tool lost its parameters in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from worksample.models.gateway.dialects import gemini


def check(room: Path, request: Any) -> None:
    """The tool is shown with its parameter."""
    body = json.loads(Path(__file__).with_name("request.json").read_text(encoding="utf-8"))
    [tool] = gemini.DIALECT.read(body, "/v1beta/models/m:generateContent").tools
    assert list(tool.parameters.properties) == ["q"]
