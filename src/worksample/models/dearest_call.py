"""What one call can cost at most: a budget is looked at after each call, so the one that reaches it is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .price import Prices
from .usage import MILLION


def dearest_call(model: str, prices: Prices, generation: Mapping[str, Any] | None = None) -> float | None:
    """US dollars of a call that fills the model's context and its longest answer; None where one of them is unknown."""
    from inspect_ai.model import get_model_info

    price, known = prices.get(model), get_model_info(model)
    context = known.context_length if known else None
    answer = (generation or {}).get("max_tokens") or (known.output_tokens if known else None)
    if price is None or context is None or answer is None:
        return None
    dearest = max(price.input, price.cache_write or 0.0)
    return float(context * dearest + answer * price.output) / MILLION
