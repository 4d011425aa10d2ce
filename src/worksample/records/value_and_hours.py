"""Money and hours as they are known: a range, when, and from whom."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from .base import Frozen


class Source(StrEnum):
    """Where a figure comes from. Illustrative ones stay out of economic metrics unless asked for."""

    PAID = "paid"
    SELF_REPORTED = "self_reported"
    ESTIMATED = "estimated"
    ILLUSTRATIVE = "illustrative"


class _Range(Frozen):
    low: float = Field(ge=0)
    high: float = Field(ge=0)
    date: date
    source: Source

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.high < self.low:
            raise ValueError(f"high ({self.high}) is below low ({self.low})")
        return self

    @property
    def middle(self) -> float:
        """The midpoint: what metrics use of a range (RLI C.5)."""
        return (self.low + self.high) / 2


class Value(_Range):
    """What the work is worth, in `currency`."""

    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")


class Hours(_Range):
    """How long a person takes, in hours."""
