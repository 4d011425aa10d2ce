"""Value and hours of work, as ranges with a date and a source."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from .base import Frozen


class Source(StrEnum):
    """Source of a figure. Economic metrics leave out illustrative figures by default."""

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
        """Return the midpoint of the range, which metrics use as its value (RLI C.5)."""
        return (self.low + self.high) / 2


class Value(_Range):
    """The market value of the work, as a range in `currency`."""

    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")


class Hours(_Range):
    """The hours that a person needs for the work, as a range."""
