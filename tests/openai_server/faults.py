"""Answers word for word: what services really send when they fail, copied from their documentation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .answers import Answer


@dataclass(frozen=True)
class Reply(Answer):
    """Any status and any body."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def reply(status: int, content: Any) -> Reply:
    """`content`: bytes as they are, all else as JSON."""
    return Reply(status=status, content=content if isinstance(content, bytes) else json.dumps(content).encode())


WRONG_KEY = reply(
    401,
    {
        "error": {
            "message": "Incorrect API key provided: sk-abc***xyz. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_api_key",
        }
    },
)
NO_CREDIT = reply(
    429,
    {
        "error": {
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "type": "insufficient_quota",
            "param": None,
            "code": "insufficient_quota",
        }
    },
)
TOO_LONG = reply(
    400,
    {
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 "
            "tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        }
    },
)
VLLM_TOO_LONG = reply(
    400,
    {
        "object": "error",
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the "
        "messages, Please reduce the length of the messages.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    },
)
NO_CHOICES = reply(200, {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []})
NULL_CHOICES = reply(200, {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": None})
HALF_JSON = reply(200, b'{"id": "x", "choices": [{"index": 0, "mess')
ERROR_IN_200 = reply(200, {"error": {"message": "Provider returned error", "code": 502}})
"""As OpenRouter answers where the service behind it fails."""
EMPTY = reply(200, b"")
LIST = reply(200, [])
NO_MESSAGE = reply(200, {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0}]})
