"""Command-line options for figures: verdicts, subsets, intervals, experts' time, checking and prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .output import price_option

if TYPE_CHECKING:
    from worksample.metrics import Checking, Resampling
    from worksample.records import JudgedBy
    from worksample.results.subset import Subset

F = TypeVar("F", bound=Callable[..., Any])
CHECKING = "cost=5,accepts_good=0.98,accepts_bad=0.1,loss=200"


def money_options(function: F) -> F:
    """Add the options `--hourly`, `--checking` and `--price` to a command."""
    for option in (
        price_option(
            "List price in US dollars per million tokens; shows what trials cost without caching, and with it where "
            "cached tokens have a price. Repeatable."
        ),
        click.option(
            "--checking",
            default=None,
            metavar="KEY=VALUE,...",
            help=f"The buyer's check in the deployable cost: {CHECKING}. Default: free and perfect.",
        ),
        click.option(
            "--hourly", type=float, default=None, help="US dollars per hour of the expert who gives feedback."
        ),
    ):
        function = option(function)
    return function


def judged_by_option(function: F) -> F:
    """Add the option `--judged-by` to a command."""
    return click.option(
        "--judged-by",
        type=click.Choice(["combined", "people", "judge", "program"]),
        default=None,
        callback=_judged_by,
        help="Whose answers decide the verdicts; combined: each criterion is decided by the kind of evaluator that it "
        "names. Default: as the experiment says.",
    )(function)


def interval_options(function: F) -> F:
    """Add the options `--resamples`, `--level` and `--seed` to a command."""
    for option in (
        click.option("--seed", type=int, default=None, help="Random seed of every bootstrap; default: 0."),
        click.option("--level", type=float, default=None, help="Confidence level of every interval; default: 0.95."),
        click.option("--resamples", type=int, default=None, help="Resamples of every bootstrap; default: 1000."),
    ):
        function = option(function)
    return function


def where_option(function: F) -> F:
    """Add the option `--where` to a command."""
    return click.option(
        "--where",
        multiple=True,
        default=None,
        metavar="FIELD=VALUE",
        callback=_where,
        help="Only this part of the work: agent, arm, category, cohort, domain, experiment, harness, instance, "
        "model, platform, tag, task or tier. Repeatable: values of one field are alternatives, different fields must "
        "all match.",
    )(function)


def _where(context: click.Context, parameter: click.Parameter, values: Sequence[str] | None) -> Subset:
    from worksample.results.subset import Subset

    return Subset.parse(values or ())


def resampling(given: dict[str, Any]) -> Resampling:
    """Remove the options for intervals from `given`, and return them as a Resampling."""
    from worksample.metrics import Resampling

    how = {name: given.pop(name) for name in ("resamples", "level", "seed")}
    return Resampling(**{name: value for name, value in how.items() if value is not None})


def _judged_by(context: click.Context, parameter: click.Parameter, value: str | None) -> JudgedBy | None:
    from worksample.records import JudgedBy

    return None if value is None else JudgedBy(value)


def money_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Return the money options in `given` as settings of `MeasureConfig`."""
    out: dict[str, Any] = {}
    if given.get("hourly") is not None:
        out["hourly"] = given["hourly"]
    if given.get("checking"):
        out["checking"] = read_checking(given["checking"])
    if given.get("prices"):
        out["prices"] = _prices(given["prices"])
    return out


def read_checking(text: str) -> Checking:
    """Parse a text such as `cost=5,accepts_bad=0.1` into a Checking. Raises UsageError, which names the wrong part, if
    the text is invalid.
    """
    from dataclasses import fields

    from worksample.errors import UsageError
    from worksample.metrics import Checking

    known = [f.name for f in fields(Checking)]
    values: dict[str, float] = {}
    for part in text.split(","):
        name, mark, value = (piece.strip() for piece in part.partition("="))
        if not mark or name not in known:
            raise UsageError(
                f"--checking {part!r} is not KEY=VALUE with one of the keys {', '.join(known)}",
                next=f"--checking {CHECKING}",
            )
        try:
            values[name] = float(value)
        except ValueError as error:
            raise UsageError(f"--checking {name} is {value!r}, not a number", next=f"--checking {CHECKING}") from error
    return Checking(**values)


def _prices(given: Sequence[str]) -> dict[str, Any]:
    from worksample.models.price import read_prices

    from .service_options import price_of

    return read_prices(dict(price_of(text) for text in given), "--price")
