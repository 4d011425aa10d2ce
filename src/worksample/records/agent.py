"""Agents (a harness, a model and settings), and how much they used of their models."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from pydantic import Field

from .base import Frozen, Record, digest_of, omittable, register
from .task import Name


class Usage(Frozen):
    """Requests, tokens and costs of models in one role, such as `agent` or `judge`. Costs are in US dollars.

    Some counts, such as `unsettled`, are omitted from the stored form if they are 0.
    """

    calls: int = Field(default=0, ge=0)
    """Number of requests that the model's service answered."""
    input_tokens: int = Field(default=0, ge=0)
    """Number of prompt tokens that were neither read from the cache of the model's service nor written to this
    cache.
    """
    output_tokens: int = Field(default=0, ge=0)
    """Number of tokens in answers, with the model's reasoning."""
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)
    """Number of tokens of reasoning. `output_tokens` contains these tokens."""
    cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Sum of the costs of all calls with a known price; None if no call has a known price."""
    priced: bool = False
    """True if every request has a final price: no price is missing, estimated or unsettled."""
    unpriced: int = omittable(0, ge=0)
    """Number of `calls` without a known price."""
    estimated: int = omittable(0, ge=0)
    """Number of `calls` for which the service reported no tokens. The number of tokens is then estimated from the
    text.
    """
    cached_as_input: int = omittable(0, ge=0)
    """Number of `calls` whose cached tokens are charged at the input price, because no price for cached tokens is
    known.
    """
    failed: int = omittable(0, ge=0)
    """Number of requests that the service refused or never received. They cost nothing and are not part of `calls`."""
    unsettled: int = omittable(0, ge=0)
    """Number of requests that may cost money although no answer arrived: they were cut off, timed out, or failed after
    the service did the work. They are not part of `calls`.
    """
    unsettled_tokens: int = omittable(0, ge=0)
    """Maximum number of tokens that the unsettled requests can have used."""
    unsettled_cost: float | None = omittable(None, ge=0, allow_inf_nan=False)
    """Maximum cost of the unsettled requests in US dollars, not included in `cost`. None if there are no unsettled
    requests, or if their price is unknown.
    """

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def requests(self) -> int:
        """Return the number of all requests sent to the service: answered, failed and unsettled ones."""
        return self.calls + self.failed + self.unsettled

    @property
    def without_price(self) -> bool:
        """Return whether a request has neither a known price nor a known maximum price."""
        unsaid = not (self.priced or self.estimated or self.unsettled)  # old records do not count unpriced calls
        lacking = bool(self.calls) and (self.cost is None or unsaid)
        return lacking or self.unpriced > 0 or (self.unsettled > 0 and self.unsettled_cost is None)

    @property
    def cost_at_most(self) -> float | None:
        """Return the maximum total cost of all requests in US dollars. Return None if a request has neither a known
        price nor a known maximum price.
        """
        if self.without_price or (self.cost is None and self.unsettled_cost is None):
            return None
        return (self.cost or 0.0) + (self.unsettled_cost or 0.0)


IMPORTED = "imported"
"""Harness name of agents and people from imported tables of results. They cannot be run, and their usage is unknown."""


@register
class Agent(Record):
    """An agent: a harness, a model and settings. `id` is `name@` and the first 16 characters of the digest of the other
    fields.
    """

    kind: ClassVar[str] = "agent"

    name: Name
    harness: str
    model: str | None = None
    settings: dict[str, Any] = {}
    release_date: date | None = None
    capabilities: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, harness: str, **rest: Any) -> Agent:
        """Build an agent and compute its id."""
        draft = cls(id="-", name=name, harness=harness, **rest)
        body = draft.plain()
        del body["id"]
        return draft.replaced(id=f"{name}@{digest_of(body)[:16]}")
