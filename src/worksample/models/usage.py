"""What model calls took, role by role, summed call by call at the price of that call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from worksample.records import Usage

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent
    from inspect_ai.model import ModelUsage

    from .price import Prices

MILLION = 1_000_000
AGENT = "agent"
MOST_TOKENS = 1_000_000_000
"""Of one call, of any kind: what is above, or below nothing, is no count of tokens."""


def usage_of(events: Iterable[Event], prices: Prices) -> dict[str, Usage]:
    """Usage per role over a transcript's model events; calls without a role are the agent's.

    Every call that was answered counts, but for those from a local cache, which took nothing. `cost` sums the calls
    that have a price (None where none has), `priced` says whether all have: a call whose usage the service does not
    tell, or tells absurdly, has none.
    """
    total: dict[str, Usage] = {}
    for event in events:
        if event.event != "model":
            continue
        used = call_usage(event, prices)
        if used is not None:
            role = event.role or AGENT
            total[role] = plus(total.get(role), used)
    return total


def spent(usage: Mapping[str, Usage], model: str | None, prices: Prices) -> dict[str, Usage]:
    """`usage`, with 0 dollars for an agent that asked nothing of a model with a price: that is known, and no gap."""
    if AGENT in usage or model is None or model not in prices:
        return dict(usage)
    return {**usage, AGENT: Usage(cost=0.0, priced=True)}


def sound(used: ModelUsage) -> bool:
    """Whether counts of tokens can be true. A service may answer anything."""
    counts = (
        used.input_tokens,
        used.output_tokens,
        used.total_tokens,
        used.input_tokens_cache_read,
        used.input_tokens_cache_write,
        used.reasoning_tokens,
    )
    return all(0 <= count <= MOST_TOKENS for count in counts if count is not None)


def call_usage(event: ModelEvent, prices: Prices) -> Usage | None:
    """What one call took; None where it is not over, was not answered, or was answered from a local cache."""
    if event.pending or event.cache == "read":
        return None
    used = event.output.usage
    if used is None or not sound(used):
        return Usage(calls=1) if event.output.choices and event.error is None else None
    return output_usage(used, event.model, prices)


def output_usage(used: ModelUsage | None, model: str, prices: Prices) -> Usage:
    """What one answered call to `model` took, at its price; without a price where it has none or tells nothing."""
    if used is None or not sound(used):
        return Usage(calls=1)
    price = prices.get(model)
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    cost = None
    if price is not None:
        cost = (
            used.input_tokens * price.input
            + used.output_tokens * price.output
            + read * (price.input if price.cache_read is None else price.cache_read)
            + written * (price.input if price.cache_write is None else price.cache_write)
        ) / MILLION
    return Usage(
        calls=1,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=used.reasoning_tokens or 0,
        cost=cost,
        priced=cost is not None,
    )


def plus(a: Usage | None, b: Usage) -> Usage:
    """Both together."""
    if a is None:
        return b
    costs = [c for c in (a.cost, b.cost) if c is not None]
    return Usage(
        calls=a.calls + b.calls,
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
        cache_read_tokens=a.cache_read_tokens + b.cache_read_tokens,
        cache_write_tokens=a.cache_write_tokens + b.cache_write_tokens,
        reasoning_tokens=a.reasoning_tokens + b.reasoning_tokens,
        cost=sum(costs) if costs else None,
        priced=a.priced and b.priced,
    )
