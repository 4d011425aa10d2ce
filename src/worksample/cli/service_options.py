"""Options for calls of models' services. They apply to all models and take precedence over the experiment file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from worksample.errors import UsageError
from worksample.files.json_duplicate_keys import DuplicateKeyError, unique_object

from .output import price_option

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option(
        "--base-url",
        default=None,
        metavar="URL",
        help="The service's address; see docs/how-to/choose-an-agent.md.",
    ),
    click.option(
        "--model-arg",
        "model_args",
        multiple=True,
        default=None,
        metavar="KEY=VALUE",
        help="An argument of Inspect's provider; VALUE is JSON, else text. Repeatable.",
    ),
    click.option("--connections", type=int, default=None, help="Requests at once for each model."),
    click.option(
        "--model-retries", type=int, default=None, help="Retries of one request after a fault of the service."
    ),
    click.option(
        "--answer-timeout", default=None, metavar="TIME", help="Timeout of one try of a request, as in 90s or 10m."
    ),
    click.option(
        "--request-timeout", default=None, metavar="TIME", help="Timeout of one request, including all its tries."
    ),
)
KEYS = {
    "base_url": "base_url",
    "connections": "connections",
    "model_retries": "retries",
    "answer_timeout": "answer_timeout",
    "request_timeout": "request_timeout",
}
"""Keys in the table `[services."*"]` of an experiment file, by command-line option."""


def service_options(function: F) -> F:
    """Add all options for models' services to a command."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


FIGURES = ("input", "output", "cache_read", "cache_write")
"""Names of the prices in a `--price`, in their order."""
JUDGES = (
    click.option(
        "--judge", "judges", multiple=True, default=None, metavar="NAME=MODEL",
        help="A judge model, instead of [judges.NAME] as planned. Repeatable.",
    ),
    price_option(),
)  # fmt: skip


def judge_options(function: F) -> F:
    """Add the options for judges to a command that continues an experiment. With them, other judges than planned can be
    used.
    """
    function = service_options(function)
    for option in reversed(JUDGES):
        function = option(function)
    return function


def judging_flags(given: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `judge_options` from `given`, and return them as keys of an experiment file. Raises
    UsageError if a value is invalid.
    """
    names = ("judges", "prices", "model_args", *KEYS)
    said = {name: value for name in names if (value := given.pop(name, None)) is not None and value != ()}
    take_services(said)
    if "judges" in said:
        said["judges"] = {name: {"model": model} for name, model in (_judge(text) for text in said["judges"])}
    if "prices" in said:
        said["prices"] = dict(price_of(text) for text in said["prices"])
    return said


def pair_of(text: str, option: str, example: str) -> tuple[str, str]:
    """Split an option's value `KEY=VALUE` into key and value. Raises UsageError if the key or the value is missing."""
    key, sign, value = text.partition("=")
    if not (key and sign and value):
        raise UsageError(f"{option} {text!r} is not KEY=VALUE", next=f"{option} {example}")
    return key, value


def price_of(text: str) -> tuple[str, dict[str, str]]:
    """Parse the value of `--price` into a model and its two to four prices. Raises UsageError if the value is
    invalid.
    """
    model, value = pair_of(text, "--price", "openai/gpt-5=1.25,10")
    figures = [figure.strip() for figure in value.split(",")]
    form = f"--price {model}=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]]"
    if len(figures) < 2 or not all(figures[:2]):
        raise UsageError(f"--price {text!r} gives only one figure: input and output need one each", next=form)
    if len(figures) > len(FIGURES):
        raise UsageError(
            f"--price {text!r} gives {len(figures)} figures; a price has {len(FIGURES)} at most", next=form
        )
    if not all(figures):
        raise UsageError(f"--price {text!r} has nothing between two commas", next=form)
    return model, dict(zip(FIGURES, figures, strict=False))


def _judge(text: str) -> tuple[str, str]:
    return pair_of(text, "--judge", "judge=openai/gpt-5-mini")


def take_services(given: dict[str, Any]) -> None:
    """Move the options for models' services in `given` to the key `services`. Raises UsageError if an argument has no
    value.
    """
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
        return key, json.loads(value, object_pairs_hook=unique_object)
    except DuplicateKeyError as twice:
        raise UsageError(f"--model-arg {key}: {twice}", next=twice.next) from None
    except ValueError:
        return key, value
