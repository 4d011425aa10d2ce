"""Prices of models' tokens. The user states every price; the platform never guesses or looks up one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from worksample.errors import ManifestError, PlanError
from worksample.files.config_files import describe_errors
from worksample.records import Frozen


class Price(Frozen):
    """US dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    """Tokens of the prompt that no cache served."""
    output: float = Field(ge=0, allow_inf_nan=False)
    """Tokens of the answer, reasoning included."""
    cache_read: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Tokens read from the service's cache; None: charged as input, which is an upper bound."""
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Tokens written to the service's cache; None: charged as input."""


Prices = Mapping[str, Price]


def read_prices(table: Mapping[str, Any], where: str = "prices") -> dict[str, Price]:
    """Read prices by model name from tables or `Price`s. Raises ManifestError that names the wrong model and key."""
    out = {}
    for name, value in table.items():
        plain = value.model_dump() if hasattr(value, "model_dump") else value
        try:
            out[name] = Price.model_validate(plain)
        except ValidationError as error:
            raise ManifestError(
                f"{describe_errors(error, Price)}; a price has input, output, cache_read and cache_write, in "
                "dollars per million",
                where=f"{where}.{name}",
                next=f'write [prices."{name}"] input = 3.0, output = 15.0',
            ) from error
    return out


def has_price(model: str, prices: Prices) -> bool:
    """Return whether the calls of `model` have a price."""
    return model in prices


def require_price(model: str | None, prices: Prices) -> None:
    """Raise PlanError for a budget on a model without a price, because such a limit would silently have no effect."""
    if model is None:
        raise PlanError(
            "a budget in dollars is set, but this agent calls no model, so nothing counts against it",
            next="set a time limit instead",
        )
    if not has_price(model, prices):
        given = f" (prices were given for {', '.join(sorted(prices))})" if prices else ""
        raise PlanError(
            f"a budget in dollars is set, but {model} has no price, so the budget could never be reached{given}",
            where=f"prices.{model}",
            next=f"--price {model}=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]] in dollars per million tokens, "
            f'or [prices."{model}"] in a file',
        )


def register_prices(prices: Prices) -> None:
    """Register the prices with Inspect, so that its cost limit works. Inspect's data on the model's context stay."""
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    for name, price in prices.items():
        cost = ModelCost(
            input=price.input,
            output=price.output,
            input_cache_read=price.input if price.cache_read is None else price.cache_read,
            input_cache_write=price.input if price.cache_write is None else price.cache_write,
        )
        known = get_model_info(name)
        info = known.model_copy(update={"cost": cost}) if known else ModelInfo(cost=cost)
        set_model_info(name, info)
