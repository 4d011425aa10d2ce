"""The dialects: each reads requests and writes answers, streams and errors as its provider does."""

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
    """One provider's forms of requests and answers."""

    name: str
    read: Read
    answer: Callable[[ModelOutput, ModelRequest], dict[str, Any]]
    stream: Callable[[ModelOutput, ModelRequest], Iterator[bytes]]
    """Writes server-sent events."""
    fault: Callable[[int, str, str], dict[str, Any]]
    """Writes an error from the HTTP status, the problem, and a word for it."""
