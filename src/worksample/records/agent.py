"""Agents (harness, model and settings) and the usage of models."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from pydantic import Field

from .base import Frozen, Record, digest_of, omittable, register
from .task import Name


class Usage(Frozen):
    """Usage of models in one role. Costs are in US dollars.

    Counts of unsettled requests are omitted from the stored form if they are 0.
    """

    calls: int = Field(default=0, ge=0)
    """Number of answered requests."""
    input_tokens: int = Field(default=0, ge=0)
    """Tokens of prompts that were neither read from the service's cache nor written to it."""
    output_tokens: int = Field(default=0, ge=0)
    """Tokens of answers, reasoning included."""
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)
    """The part of `output_tokens` that is reasoning."""
    cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Sum over the calls with a price; None if no call has one."""
    priced: bool = False
    """True if the price of every request is settled: none lacks a price, is estimated or unsettled."""
    unpriced: int = omittable(0, ge=0)
    """Number of `calls` without a price."""
    estimated: int = omittable(0, ge=0)
    """Number of `calls` whose service reported no tokens, so that their tokens are estimated from the text."""
    cached_as_input: int = omittable(0, ge=0)
    """Number of `calls` with cached tokens that are charged at the input price, because no other price is known."""
    failed: int = omittable(0, ge=0)
    """Number of requests, not in `calls`, that the service refused or that never reached it: they cost nothing."""
    unsettled: int = omittable(0, ge=0)
    """Number of requests, not in `calls`, that may cost money: cut off, timed out, or failed after the work was done.
    """
    unsettled_tokens: int = omittable(0, ge=0)
    """Maximum number of tokens that the unsettled requests can have used."""
    unsettled_cost: float | None = omittable(None, ge=0, allow_inf_nan=False)
    """Maximum US dollars that the unsettled requests can have cost, not in `cost`; None if there are none, or without a
    price.
    """

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def requests(self) -> int:
        """Return the number of requests sent to the service."""
        return self.calls + self.failed + self.unsettled

    @property
    def without_price(self) -> bool:
        """Return whether a request has no known price, not even an upper bound."""
        unsaid = not (self.priced or self.estimated or self.unsettled)  # old records do not count unpriced calls
        lacking = bool(self.calls) and (self.cost is None or unsaid)
        return lacking or self.unpriced > 0 or (self.unsettled > 0 and self.unsettled_cost is None)

    @property
    def cost_at_most(self) -> float | None:
        """Return the maximum US dollars that all requests can have cost; None if one has no price."""
        if self.without_price or (self.cost is None and self.unsettled_cost is None):
            return None
        return (self.cost or 0.0) + (self.unsettled_cost or 0.0)


IMPORTED = "imported"
"""The harness of agents and people from imported tables: they cannot be run, and their usage is unknown."""


@register
class Agent(Record):
    """An agent. `id` is `name@` and 16 characters of the digest of the rest."""

    kind: ClassVar[str] = "agent"

    name: Name
    harness: str
    model: str | None = None
    settings: dict[str, Any] = {}
    release_date: date | None = None
    capabilities: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, harness: str, **rest: Any) -> Agent:
        """Build an agent with its id."""
        draft = cls(id="-", name=name, harness=harness, **rest)
        body = draft.plain()
        del body["id"]
        return draft.replaced(id=f"{name}@{digest_of(body)[:16]}")
