"""Who works: harness + model + settings."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from pydantic import Field

from .base import Frozen, Record, digest_of, register
from .task import Name


class Usage(Frozen):
    """What one role's model calls took. Costs are US dollars."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)
    cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The sum over the calls that had a price; None where no call had one."""
    priced: bool = False
    """Whether every call had a price."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


IMPORTED = "imported"
"""The harness of workers that tables of others name: they cannot be run, and what they used is not known."""


@register
class Agent(Record):
    """`id` is `name@` and 16 characters of the digest of the rest."""

    kind: ClassVar[str] = "agent"

    name: Name
    harness: str
    model: str | None = None
    settings: dict[str, Any] = {}
    release_date: date | None = None
    capabilities: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, harness: str, **rest: Any) -> Agent:
        """Build one with its id."""
        draft = cls(id="-", name=name, harness=harness, **rest)
        body = draft.plain()
        del body["id"]
        return draft.replaced(id=f"{name}@{digest_of(body)[:16]}")
