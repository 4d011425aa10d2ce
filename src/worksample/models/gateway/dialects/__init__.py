"""The API dialects of the providers. Each dialect parses requests and formats answers, streams and errors as its
provider does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import ModelOutput

from worksample.models.gateway.request import ModelRequest

Read = Callable[[dict[str, Any], str], ModelRequest]
"""Function that parses a request from its body and its path. It raises Refusal if the request is invalid."""


@dataclass(frozen=True)
class Dialect:
    """The functions of one provider's API: they parse requests and format answers, streams and errors."""

    name: str
    read: Read
    answer: Callable[[ModelOutput, ModelRequest], dict[str, Any]]
    stream: Callable[[ModelOutput, ModelRequest], Iterator[bytes]]
    """Function that formats an answer as server-sent events."""
    fault: Callable[[int, str, str], dict[str, Any]]
    """Function that formats an error from its HTTP status, message and kind."""
