"""The API dialects of providers. Each parses requests and formats answers, streams and errors as its provider does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import ModelOutput

from worksample.models.gateway.request import ModelRequest

Read = Callable[[dict[str, Any], str], ModelRequest]
"""Parse a request from the body and the path. Raises Refusal."""


@dataclass(frozen=True)
class Dialect:
    """Functions that parse requests and format answers of one provider's API."""

    name: str
    read: Read
    answer: Callable[[ModelOutput, ModelRequest], dict[str, Any]]
    stream: Callable[[ModelOutput, ModelRequest], Iterator[bytes]]
    """Formats an answer as server-sent events."""
    fault: Callable[[int, str, str], dict[str, Any]]
    """Formats an error from HTTP status, message and kind of error."""
