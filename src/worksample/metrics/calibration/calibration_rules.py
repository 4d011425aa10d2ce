"""Rules for proving a judge, set beforehand: how closely it must agree with people to replace them."""

from __future__ import annotations

from dataclasses import dataclass

from worksample.errors import UsageError
from worksample.metrics.uncertainty.intervals import check_level

from .label_sample import LEAST


@dataclass(frozen=True, slots=True)
class CalibrationRules:
    """Rules from `[calibration]` of an experiment. Raises UsageError for a threshold outside 0.5..1 or fewer than two
    labels.
    """

    threshold: float = 0.8
    """Share of people's labels that a judge must agree with: the lower end of the exact interval must reach it."""
    least: int = LEAST
    """Minimum number of labels, and of projects with labels, for a corrected figure."""
    each: int = 5
    """Minimum number of labels of each answer, pass and fail, for a comparison: if few pass, a judge that fails
    everything agrees nearly always.
    """
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0.5 <= self.threshold < 1:
            raise UsageError(
                f"the threshold {self.threshold:g} is out of range",
                where="[calibration] threshold",
                next="0.5 or more, below 1",
            )
        if self.least < 2 or self.each < 1:
            raise UsageError(
                f"least = {self.least} or each = {self.each} is too small",
                where="[calibration]",
                next="least >= 2, each >= 1",
            )
