"""The flags that say how models' services are reached. They hold for all models, over what a file says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from worksample.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option("--base-url", default=None, metavar="URL", help="Where the service is; see docs/providers.md."),
    click.option(
        "--model-arg",
        "model_args",
        multiple=True,
        default=None,
        metavar="KEY=VALUE",
        help="An argument of Inspect's provider; VALUE is JSON, else text. Repeatable.",
    ),
    click.option("--connections", type=int, default=None, help="Requests at once, per model."),
    click.option("--model-retries", type=int, default=None, help="Of one request, after a fault of the service."),
    click.option("--answer-timeout", default=None, metavar="TIME", help="Of one try of a request, as in 90s or 10m."),
    click.option("--request-timeout", default=None, metavar="TIME", help="Of one request with all its tries."),
)
KEYS = {
    "base_url": "base_url",
    "connections": "connections",
    "model_retries": "retries",
    "answer_timeout": "answer_timeout",
    "request_timeout": "request_timeout",
}
"""Flag -> key of `[services."*"]`."""


def service_options(function: F) -> F:
    """All of them."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def take_services(given: dict[str, Any]) -> None:
    """Put what was given of these flags under `services`. UsageError for an argument without a value."""
    found = {key: given.pop(flag) for flag, key in KEYS.items() if flag in given}
    if "model_args" in given:
        found["args"] = dict(_argument(text) for text in given.pop("model_args"))
    if found:
        given["services"] = {"*": found}


def _argument(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not (key and sign):
        raise UsageError(f"--model-arg {text!r} has no = in it", next="--model-arg KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
