"""What the service answers, and how it goes wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """What happens instead of a proper answer."""

    NONE = "none"
    LIMIT = "limit"
    """429 with a Retry-After of nothing."""
    BROKEN = "broken"
    """500."""
    REJECTED = "rejected"
    """400: the request itself is refused."""
    FORBIDDEN = "forbidden"
    """401."""
    NOT_JSON = "not_json"
    """200 with a body that is no JSON."""
    CUT = "cut"
    """200 whose body ends in the middle, and with it the connection."""
    NO_CHOICES = "no_choices"
    """200 with a completion that has no choices."""
    HANG = "hang"
    """No answer until the client goes away."""


@dataclass(frozen=True)
class Call:
    """A tool call; `raw` replaces the JSON of its arguments by whatever it says."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    raw: str | None = None

    def plain(self, number: int) -> dict[str, Any]:
        text = json.dumps(self.arguments) if self.raw is None else self.raw
        return {"id": f"call_{number}", "type": "function", "function": {"name": self.name, "arguments": text}}


@dataclass(frozen=True)
class Answer:
    """One answer of the service. Delays in seconds."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    refusal: str | None = None
    fault: Fault = Fault.NONE
    delay: float = 0.0
    chunk_delay: float = 0.0
    """Between the bytes of the body, which then comes in twenty pieces."""
    input_tokens: int = 100
    cached_tokens: int = 0
    output_tokens: int = 20

    def body(self, number: int, model: str) -> dict[str, Any]:
        """The completion as JSON types."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.calls:
            message["tool_calls"] = [c.plain(100 * number + i) for i, c in enumerate(self.calls)]
        if self.refusal is not None:
            message["refusal"] = self.refusal
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": self.finish or ("tool_calls" if self.calls else "stop"),
                    "logprobs": None,
                }
            ],
            "usage": {
                "prompt_tokens": self.input_tokens,
                "completion_tokens": self.output_tokens,
                "total_tokens": self.input_tokens + self.output_tokens,
                "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            },
        }


def says(text: str, **rest: Any) -> Answer:
    """An answer in words."""
    return Answer(text=text, **rest)


def calls(name: str, /, **arguments: Any) -> Answer:
    """An answer that calls one tool."""
    return Answer(calls=(Call(name, arguments),))
