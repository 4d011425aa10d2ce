"""Prices of models' tokens. The user states every price; the platform never guesses a price or looks it up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from worksample.errors import ManifestError, PlanError
from worksample.files.config_files import describe_errors
from worksample.records import Frozen
from worksample.records.base import omittable


class Price(Frozen):
    """Prices of a model in US dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    """US dollars per million tokens of the prompt that were not read from a cache."""
    output: float = Field(ge=0, allow_inf_nan=False)
    """US dollars per million tokens of the answer, including reasoning."""
    cache_read: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars per million tokens read from the service's cache. If missing, they cost as much as `input`, which
    gives an upper bound.
    """
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars per million tokens written to the service's cache. If missing, they cost as much as `input`."""
    picture: float | None = omittable(None, ge=0, allow_inf_nan=False)
    """US dollars per picture that a media model makes. Omitted if not set."""
    characters: float | None = omittable(None, ge=0, allow_inf_nan=False)
    """US dollars per million characters of text that a media model speaks. Omitted if not set."""
    second: float | None = omittable(None, ge=0, allow_inf_nan=False)
    """US dollars per second of film that a media model makes. Omitted if not set."""


Prices = Mapping[str, Price]


def read_prices(table: Mapping[str, Any], where: str = "prices") -> dict[str, Price]:
    """Read the prices of models from tables or `Price` objects, by model name. Raises ManifestError with the name of
    the model and the key that is wrong.
    """
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
    """Check that a model with a budget has a price. Raises PlanError if it has none, because its budget would have no
    effect.
    """
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
    """Register the prices with Inspect, so that Inspect's cost limit works. Inspect's data on the length of the models'
    contexts are not changed.
    """
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
