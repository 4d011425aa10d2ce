"""Rules for proving a judge, fixed beforehand: how far it must agree with people to stand in for them."""

from __future__ import annotations

from dataclasses import dataclass

from worksample.errors import UsageError
from worksample.metrics.uncertainty.intervals import check_level

from .label_sample import LEAST


@dataclass(frozen=True, slots=True)
class CalibrationRules:
    """`[calibration]` of an experiment. Errors: UsageError for a threshold outside 0.5..1 or fewer than two labels."""

    threshold: float = 0.8
    """Share of people's labels that a judge must agree with: the lower end of the exact interval has to reach it."""
    least: int = LEAST
    """Labels, and projects with labels, below which no figure is corrected."""
    each: int = 5
    """Labels of each answer, pass and fail, that a judge must be compared with: if few pass, a judge that fails all
    agrees nearly always.
    """
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0.5 <= self.threshold < 1:
            raise UsageError(
                f"a threshold of {self.threshold:g}", where="[calibration] threshold", next="0.5 or more, below 1"
            )
        if self.least < 2 or self.each < 1:
            raise UsageError(
                f"least = {self.least}, each = {self.each}", where="[calibration]", next="least >= 2, each >= 1"
            )
