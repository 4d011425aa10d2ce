"""Rules for proving a judge, set before the experiment: how often the judge must agree with people before its answers
replace theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from worksample.errors import UsageError
from worksample.metrics.uncertainty.intervals import check_level

from .label_sample import LEAST


@dataclass(frozen=True, slots=True)
class CalibrationRules:
    """Rules from the table `[calibration]` of an experiment.

    Raises UsageError if `threshold` lies outside 0.5..1, or if the rules allow fewer than two labels.
    """

    threshold: float = 0.8
    """Share of people's labels with which a judge must agree. The lower end of the exact interval of agreement must
    reach this share.
    """
    least: int = LEAST
    """Minimum number of labels for a corrected figure, and also the minimum number of projects with labels."""
    each: int = 5
    """Minimum number of labels "pass" and minimum number of labels "fail" for testing the agreement on each of the two.

    If few submissions pass, a judge that fails everything agrees with people nearly always.
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
