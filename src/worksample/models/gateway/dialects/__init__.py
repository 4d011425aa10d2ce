"""The dialects: each reads a request, and writes an answer, a stream and a fault as its provider does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import ModelOutput

from worksample.models.gateway.request import ModelRequest

Read = Callable[[dict[str, Any], str], ModelRequest]
"""From the body and the path. Refusal."""


@dataclass(frozen=True)
class Dialect:
    """One provider's way to ask and to answer."""

    name: str
    read: Read
    answer: Callable[[ModelOutput, ModelRequest], dict[str, Any]]
    stream: Callable[[ModelOutput, ModelRequest], Iterator[bytes]]
    """Server-sent events."""
    fault: Callable[[int, str, str], dict[str, Any]]
    """From HTTP's status, what is wrong, and a word for it."""
