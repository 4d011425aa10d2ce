"""Usage of model calls by role, added up over calls. Each call is priced separately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from worksample.records import Usage

from .price import Prices

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent
    from inspect_ai.model import ModelUsage

MILLION = 1_000_000
AGENT = "agent"
ESTIMATED = "worksample_estimated_usage"
"""Key in an output's metadata that marks its token counts as the platform's estimates. The service reported no
counts.
"""
COUNTS = tuple(name for name in Usage.model_fields if name not in ("cost", "priced", "unsettled_cost"))
"""Names of the fields of a usage that are numbers to be added up."""
MOST_TOKENS = 1_000_000_000
"""Maximum plausible number of tokens of one call, of any kind. Larger and negative numbers are not accepted as
counts.
"""


def usage_of(events: Iterable[Event], prices: Prices) -> dict[str, Usage]:
    """Return the usage of each role from the model events of a transcript. Calls without a role belong to the agent.

    Every answered call counts, except calls answered from a local cache, which used nothing. `cost` is the sum over
    calls with a price, or None if no call has a price. `priced` is True if all calls have a price. A call has no price
    if its model has none, or if its service reports no usage or an impossible usage.
    """
    total: dict[str, Usage] = {}
    for event in events:
        if event.event != "model":
            continue
        used = call_usage(event, prices)
        if used is not None:
            role = event.role or AGENT
            total[role] = add_priced_usage(total.get(role), used)
    return total


def with_zero_cost(usage: Mapping[str, Usage], model: str | None, prices: Prices) -> dict[str, Usage]:
    """Return `usage` with a cost of 0 dollars if the agent never called its model and the model has a price. The cost
    is known to be 0 in this case.
    """
    if AGENT in usage or model is None or model not in prices:
        return dict(usage)
    return {**usage, AGENT: Usage(cost=0.0, priced=True)}


def is_plausible(used: ModelUsage) -> bool:
    """Return whether token counts are possible. A service may report any number."""
    counts = (
        used.input_tokens,
        used.output_tokens,
        used.total_tokens,
        used.input_tokens_cache_read,
        used.input_tokens_cache_write,
        used.reasoning_tokens,
    )
    return all(0 <= count <= MOST_TOKENS for count in counts if count is not None)


def is_own_call(event: Event) -> TypeGuard[ModelEvent]:
    """Return whether an event is a model call that the agent itself made."""
    return event.event == "model" and (event.role or AGENT) == AGENT


def call_usage(event: ModelEvent, prices: Prices) -> Usage | None:
    """Return the usage of one call. Return None if the call has not finished, was not answered, or was answered from a
    local cache.
    """
    if event.pending or event.cache == "read":
        return None
    used = event.output.usage
    if used is None or not is_plausible(used):
        answered = event.output.choices and event.error is None and event.output.stop_reason != "model_length"
        return Usage(calls=1, unpriced=1) if answered else None
    return output_usage(used, event.model, prices, estimated=bool((event.output.metadata or {}).get(ESTIMATED)))


def output_usage(used: ModelUsage | None, model: str, prices: Prices, *, estimated: bool = False) -> Usage:
    """Return the usage of one answered call. It has a cost if the model has a price and the token counts are known.

    Cached tokens without a price of their own are charged as input, and the call is counted as such. `estimated` is
    True if the service reported no tokens and `used` is an estimate.
    """
    if used is None or not is_plausible(used):
        return Usage(calls=1, unpriced=1)
    price = prices.get(model)
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    fresh = False
    cost = None
    if price is not None:
        cost = (
            used.input_tokens * price.input
            + used.output_tokens * price.output
            + read * (price.input if price.cache_read is None else price.cache_read)
            + written * (price.input if price.cache_write is None else price.cache_write)
        ) / MILLION
        fresh = bool((read and price.cache_read is None) or (written and price.cache_write is None))
    return Usage(
        calls=1,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=used.reasoning_tokens or 0,
        cost=cost,
        priced=cost is not None and not estimated,
        unpriced=int(cost is None),
        estimated=int(estimated),
        cached_as_input=int(fresh),
    )


def add_priced_usage(a: Usage | None, b: Usage) -> Usage:
    """Return the sum of two usages. If one usage contains no request, `priced` is taken from the other usage."""
    if a is None:
        return b
    summed = {name: getattr(a, name) + getattr(b, name) for name in COUNTS}
    return Usage(
        **summed,
        cost=_sum(a.cost, b.cost),
        unsettled_cost=None if _has_no_bound(a) or _has_no_bound(b) else _sum(a.unsettled_cost, b.unsettled_cost),
        priced=all(one.priced for one in (a, b) if one.requests or one.priced) and (a.priced or b.priced),
    )


def _sum(*amounts: float | None) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def _has_no_bound(used: Usage) -> bool:
    return used.unsettled > 0 and used.unsettled_cost is None


def dearest_call(model: str, prices: Prices, generation: Mapping[str, Any] | None = None) -> float | None:
    """Return the cost, in US dollars, of a call that fills the model's context and returns the longest possible answer.
    Return None if the price, the context or the maximum answer is unknown.

    A budget is checked after each call, so the call that exceeds the budget must still be paid.
    """
    from inspect_ai.model import get_model_info

    price, known = prices.get(model), get_model_info(model)
    context = known.context_length if known else None
    answer = (generation or {}).get("max_tokens") or (known.output_tokens if known else None)
    if price is None or context is None or answer is None:
        return None
    dearest = max(price.input, price.cache_write or 0.0)
    return float(context * dearest + answer * price.output) / MILLION
